/** Whether `uri` names a MongoDB deployment. */
export const isMongodbUri = (uri: string): boolean => /^mongodb(\+srv)?:\/\//i.test(uri);

export interface MongodbPlace {
  /** Database that the URI's path names. */
  database: string;
  /** Where it is, without user and password. */
  location: string;
  /** `host:port`, or several of them. */
  hosts: string;
  /** Names of the options that the URI sets, in lower case. */
  options: ReadonlySet<string>;
}

export const DEFAULT_DATABASE = "graph_serve";

/** What a connection string says, as far as this backend asks; undefined when it is malformed. */
export function placeOf(uri: string): MongodbPlace | undefined {
  const parts = /^(mongodb(?:\+srv)?:\/\/)(?:[^/?]*@)?([^/?@]+)(?:\/([^?]*))?(?:\?(.*))?$/i.exec(uri);
  if (!parts) return undefined;
  const [, scheme = "", hosts = "", path = "", query = ""] = parts;
  const database = decoded(path) || DEFAULT_DATABASE;
  const options = new Set([...new URLSearchParams(query).keys()].map((name) => name.toLowerCase()));
  return { database, hosts, options, location: `${scheme.toLowerCase()}${hosts}/${database}` };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Connection strings of MongoDB. Loads no driver. */
export const isMongodbUri = (uri: string): boolean => /^mongodb(\+srv)?:\/\//i.test(uri);

export interface MongodbUri {
  /** Database in the path of the URI, or the default. */
  database: string;
  /** The URI without user, password and options. */
  location: string;
  /** One or more `host:port`, separated by commas. */
  hosts: string;
  /** Names of the options that the URI sets, in lower case. */
  options: ReadonlySet<string>;
}

const DEFAULT_DATABASE = "graph_serve";

/** The parts of a connection string that this backend needs; undefined if it is malformed. */
export function parseMongodbUri(uri: string): MongodbUri | undefined {
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

/** Addresses of places in the Studio: `#/threads/ID/at/CP?tab=state`. */

export interface Place {
  /** Parts of the path, decoded: `["threads", "0198…", "at", "1f1e…"]`. */
  path: readonly string[];
  query: Readonly<Record<string, string>>;
}

export type Query = Readonly<Record<string, string | undefined>>;

export function parsePlace(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return {
    path: path.split("/").filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a place; what is undefined or empty is left out of the query. */
export function href(path: readonly string[], query: Query = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const text = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}

import { isRecord } from "./common.js";

/** Key of a checkpoint's metadata that the server alone writes, and no client sees. */
export const ORIGIN_KEY = "graph_serve";

/** Where a checkpoint comes from; so that it is known as well where the thread's row is gone. */
export interface Origin {
  /** Graphs that had written to the thread by then, this checkpoint's own among them. */
  graphs: readonly string[];
  /** Whose thread it is, as rows have it. */
  scope: string | null;
}

/** What a checkpoint's metadata says of its origin; undefined for one that was stored without. */
export function originOf(metadata: object | undefined): Origin | undefined {
  const origin = (metadata as Record<string, unknown> | undefined)?.[ORIGIN_KEY];
  if (!isRecord(origin)) return undefined;
  const { graphs, scope } = origin;
  if (!Array.isArray(graphs) || !graphs.every((id) => typeof id === "string")) return undefined;
  return { graphs, scope: typeof scope === "string" ? scope : null };
}

/** The metadata as graphs and clients may see it. */
export function withoutOrigin<T extends object>(metadata: T): T {
  const { [ORIGIN_KEY]: _servers, ...rest } = metadata as T & Record<string, unknown>;
  return rest as T;
}

/** The metadata with this origin in the place of any other. */
export const withOrigin = <T extends object>(metadata: T, { graphs, scope }: Origin): T => ({
  ...metadata,
  [ORIGIN_KEY]: { graphs: [...graphs], scope },
});

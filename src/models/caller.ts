import type { JsonObject } from "./common.js";

/** The request as the authentication hook sees it. */
export interface AuthRequest {
  method: string;
  /** Path without the query. */
  path: string;
  /** Keys are lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * A user, as returned by the hook. Graphs see the whole object as
 * `config.configurable.langgraph_auth_user`.
 */
export interface Identity {
  identity: string;
  /**
   * Scope: written to the metadata of threads that the user creates, and required of every thread
   * that the user accesses. Default: `{ owner: identity }`.
   */
  metadata?: Readonly<Record<string, string | number | boolean>>;
  [field: string]: unknown;
}

/** Authenticates a request: returns an identity. Returns nothing or throws to reject the request. */
export type Authenticate = (
  request: AuthRequest,
) => Identity | null | undefined | Promise<Identity | null | undefined>;

/** An authenticated user, and the scope of the user's threads. */
export interface Caller {
  user: Identity;
  scope: Readonly<JsonObject>;
}

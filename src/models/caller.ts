import type { JsonObject } from "./common.js";

/** The request as the authentication hook sees it. */
export interface AuthRequest {
  method: string;
  /** Without the query. */
  path: string;
  /** By names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A user, as the hook gives it; graphs see the whole object as `config.configurable.langgraph_auth_user`. */
export interface Identity {
  identity: string;
  /**
   * Scope: stamped into the metadata of the threads that the user creates, and required of every thread that it
   * touches. `{ owner: identity }` when left out.
   */
  metadata?: Readonly<Record<string, string | number | boolean>>;
  [field: string]: unknown;
}

/** Verifies who sends a request: an identity, or nothing (or an exception) for a request to refuse. */
export type Authenticate = (
  request: AuthRequest,
) => Identity | null | undefined | Promise<Identity | null | undefined>;

/** A verified user, and which threads are its own. */
export interface Caller {
  user: Identity;
  scope: Readonly<JsonObject>;
}

import type { JsonObject } from "./common.js";

/**
 * The request as the authentication hook sees it.
 * @example
 * ```ts
 * import type { AuthRequest } from "graph-serve";
 *
 * const keyOf = ({ headers }: AuthRequest) => headers["x-api-key"];
 * keyOf({ method: "GET", path: "/threads", headers: { "x-api-key": "secret-of-ada" } }); // => "secret-of-ada"
 * ```
 */
export interface AuthRequest {
  /** HTTP method, such as `GET`. */
  method: string;
  /** Path without the query. */
  path: string;
  /** Keys are lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * A user, as returned by the hook. Graphs see the whole object as
 * `config.configurable.langgraph_auth_user`.
 * @example
 * ```ts
 * import type { Identity } from "graph-serve";
 *
 * const user: Identity = { identity: "ada", metadata: { owner: "ada" }, email: "ada@example.com" };
 * ```
 */
export interface Identity {
  /** Unique id of the user. */
  identity: string;
  /**
   * Scope: written to the metadata of threads that the user creates, and required of every thread
   * that the user accesses. Default: `{ owner: identity }`.
   */
  metadata?: Readonly<Record<string, string | number | boolean>>;
  [field: string]: unknown;
}

/**
 * Authenticates a request: returns an identity. Returns nothing or throws to reject the request.
 * @example
 * ```ts
 * import { openService, type Authenticate } from "graph-serve";
 * import { graph } from "./graph.js";
 *
 * const authenticate: Authenticate = ({ headers }) =>
 *   headers.authorization === "Bearer secret-of-ada" ? { identity: "ada" } : null;
 * const service = await openService({ graphs: { agent: graph }, authenticate });
 * await service.close();
 * ```
 */
export type Authenticate = (
  request: AuthRequest,
) => Identity | null | undefined | Promise<Identity | null | undefined>;

/** An authenticated user, and the scope of the user's threads. */
export interface Caller {
  user: Identity;
  scope: Readonly<JsonObject>;
  /**
   * Set for users of LangGraph's `Auth`: what owns their crons, webhooks and usage, in the format of scopes. Their `scope`
   * is a filter on the metadata of threads instead, and handlers can return another one for each request.
   */
  owner?: string;
}

/**
 * What a request does, as handlers of LangGraph's `Auth` see it. They may change `value`.
 * @internal
 */
export interface AuthEvent {
  /** Resource and action, such as `threads:create`. */
  event: string;
  value: JsonObject;
}

/** Asks the handlers of LangGraph's `Auth` about everything that a request does. @internal */
export type Authorize = (caller: Caller, events: readonly AuthEvent[]) => Promise<Caller>;

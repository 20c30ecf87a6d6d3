import { AWAY, type ExplainError, type Explanation, explainServer } from "../driver/errors.js";

const LOGIN: Explanation = {
  message: "refused the login",
  hint: "check user and password in checkpointer_uri",
};
const LOST: Explanation = { message: "lost the connection", hint: "try again" };
const LATE: Explanation = { message: "did not answer in time" };

/** Errors of the server, by the first word of the reply. */
const SERVER_ERRORS: Record<string, Explanation> = {
  NOAUTH: LOGIN,
  WRONGPASS: LOGIN,
  NOPERM: {
    message: "denies the user a command",
    hint: "grant the user's ACL the commands of hashes, sets and sorted sets, and MULTI",
  },
  READONLY: { message: "is a read-only replica", hint: "let checkpointer_uri name the primary server" },
  OOM: { message: "has no memory left", hint: "raise maxmemory, or set checkpointer_options.ttl_minutes" },
  MISCONF: { message: "cannot write to its disk", hint: "free some space on the server" },
  LOADING: { message: "is still loading its data", hint: "try again" },
  MASTERDOWN: { message: "has lost its primary server", hint: "try again" },
  CLUSTERDOWN: { message: "has lost a part of its cluster", hint: "try again" },
  MOVED: { message: "is a node of a cluster", hint: "set checkpointer_uri to a server outside a cluster" },
  BUSY: { message: "is busy with a script", hint: "try again" },
  WRONGTYPE: {
    message: "holds a value of another type under a key of graph-serve",
    hint: "set another checkpointer_options.key_prefix",
  },
};

/** Errors of the driver, by class name. */
const DRIVER_ERRORS: Record<string, Explanation> = {
  ConnectionTimeoutError: AWAY,
  ClientOfflineError: AWAY,
  ReconnectStrategyError: AWAY,
  ClientClosedError: AWAY,
  DisconnectsClientError: LOST,
  SocketClosedUnexpectedlyError: LOST,
  AbortError: LOST,
  SocketTimeoutError: LATE,
  TimeoutError: LATE,
  CommandTimeoutDuringMaintenanceError: LATE,
  SocketTimeoutDuringMaintenanceError: LATE,
};

const NETWORK_CODES =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH)$/;

/** Explains errors of node-redis for the server at `host`. */
export const explainRedis = (host: string): ExplainError => explainServer(`Redis at ${host}`, meaningOf);

function meaningOf(error: unknown): Explanation | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, errorIndexes } = error as { code?: unknown; errorIndexes?: unknown };
  if (typeof code === "string" && NETWORK_CODES.test(code)) return AWAY;
  if (typeof code === "string" && /CERT|TLS|SSL/.test(code)) {
    return { message: "refused a secure connection", hint: "check rediss:// and the server's certificate" };
  }
  const name = error.constructor.name;
  if (name in DRIVER_ERRORS) return DRIVER_ERRORS[name];
  const isReply =
    /^(ErrorReply|SimpleError|BlobError|MultiErrorReply)$/.test(name) || errorIndexes !== undefined;
  if (!isReply) return undefined;
  const [word = ""] = /^[A-Z]+/.exec(error.message) ?? [];
  return SERVER_ERRORS[word] ?? { message: "refused a call" };
}

/**
 * LangGraph's `Auth` object (`@langchain/langgraph-sdk/auth`): authenticates requests, and asks its handlers about
 * everything that a request does. Objects of every copy of the SDK are accepted.
 */
import type { AuthEvent, AuthRequest, Caller, Identity } from "../models/caller.js";
import { byKey, isRecord, type JsonObject } from "../models/common.js";
import { ConfigError, GraphServeError } from "../support/errors.js";
import { errorMessage, tryOr } from "../support/errors/thrown.js";
import type { Logger } from "../support/log.js";
import { withTimeout } from "../support/pause.js";

/** Where `Auth` keeps its handlers. */
const HANDLERS = "~handlerCache";

type Callback = (request: object) => unknown;

/** The handlers of an `Auth` object. */
export interface AuthObject {
  [HANDLERS]: {
    authenticate?: (request: Request) => unknown;
    callbacks?: Readonly<Record<string, Callback | undefined>>;
  };
}

export const isAuthObject = (value: unknown): value is AuthObject =>
  isRecord(value) && isRecord(value[HANDLERS]);

/** @throws ConfigError if every request would be accepted (`config_invalid`) */
export function assertAuthenticates(auth: AuthObject, name: string): void {
  if (typeof auth[HANDLERS].authenticate === "function") return;
  throw new ConfigError(`auth: ${name} has no authenticate handler: every caller could access every thread`, {
    hint: "add .authenticate(async (request) => ...) to the Auth object",
  });
}

/** A handler refused the request. The status and the headers are those of its HTTPException. */
export class AuthRefusal extends GraphServeError {
  readonly #status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(status === 401 ? "unauthorized" : status < 500 ? "forbidden" : "internal_error", message);
    this.#status = status;
    this.headers = headers;
  }

  override get status(): number {
    return this.#status;
  }
}

/**
 * The user whom the `authenticate` handler returned, in LangGraph's form.
 * @throws AuthRefusal for an HTTPException; whatever else the handler throws
 */
export async function authenticatedUser(
  auth: AuthObject,
  request: AuthRequest,
  url: string,
): Promise<Identity | null | undefined> {
  try {
    return userOf(await auth[HANDLERS].authenticate?.(toWebRequest(request, url)));
  } catch (error) {
    throw refusalOf(error) ?? error;
  }
}

/** A text is an identity. What is neither a text nor an object is judged by the auth hook. */
function userOf(answer: unknown): Identity | null | undefined {
  if (answer == null || answer === false || answer === "") return null;
  const user = typeof answer === "string" ? { identity: answer } : answer;
  if (!isRecord(user)) return user as unknown as Identity;
  const identity = user.identity as string;
  return {
    ...user,
    identity,
    permissions: Array.isArray(user.permissions) ? user.permissions : [],
    is_authenticated: user.is_authenticated ?? true,
    display_name: user.display_name ?? identity,
  };
}

/** The request without its body, which the routes read. */
function toWebRequest({ method, headers }: AuthRequest, url: string): Request {
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers))
    for (const text of [value ?? []].flat()) tryOr(() => sent.append(name, text));
  const base = `http://${String(headers.host ?? "localhost")}`;
  const address = tryOr(() => new URL(url, base)) ?? new URL("http://localhost/");
  return new Request(address, { method, headers: sent });
}

/** An HTTPException of the SDK, as an error of the service. Recognized by its fields, as LangGraph does. */
function refusalOf(error: unknown): AuthRefusal | undefined {
  return tryOr(() => {
    if (!isRecord(error) || !("headers" in error)) return undefined;
    const { status } = error;
    if (typeof status !== "number" || !Number.isInteger(status) || status < 400 || status > 599)
      return undefined;
    const given = [...new Headers(error.headers as ConstructorParameters<typeof Headers>[0])];
    // The response has a body of its own.
    const headers = Object.fromEntries(given.filter(([name]) => !/^(content|transfer)-/.test(name)));
    return new AuthRefusal(status, errorMessage(error), headers);
  });
}

interface Limits {
  timeoutSeconds: number;
  logger: Logger;
}

/**
 * The caller with the scope for these events: the filters that the handlers returned, together.
 * @throws AuthRefusal if a handler refuses (`forbidden`, or the status of its HTTPException)
 * @throws GraphServeError if a handler fails (`internal_error`) or does not answer in time (`auth_timeout`)
 */
export async function authorize(
  auth: AuthObject,
  caller: Caller,
  events: readonly AuthEvent[],
  limits: Limits,
): Promise<Caller> {
  let scope: JsonObject = {};
  for (const event of events) scope = together(scope, await filterOf(auth, caller.user, event, limits));
  return { ...caller, scope, owner: ownerOf(caller.user) };
}

/** The owner in the format of scopes, equal to the default scope of an auth function. */
export const ownerOf = ({ identity }: Identity): string => JSON.stringify(byKey({ owner: identity }));

async function filterOf(
  auth: AuthObject,
  user: Identity,
  { event, value }: AuthEvent,
  { timeoutSeconds, logger }: Limits,
): Promise<JsonObject> {
  const [resource = "", action = ""] = event.split(":");
  const { callbacks = {} } = auth[HANDLERS];
  const names = [event, resource, `*:${action}`, "*"];
  const name = names.find((each) => Object.hasOwn(callbacks, each) && callbacks[each]);
  const handler = name === undefined ? undefined : callbacks[name];
  if (!handler) return {};
  const request = { event, resource, action, value, user, permissions: user.permissions };
  // An async function, so that a handler that throws rejects.
  const called = (async () => ({ result: await handler(request) }))();
  const answer = await withTimeout(timeoutSeconds * 1000, called).catch((error: unknown) => {
    throw refusalOf(error) ?? failed(`the handler for ${event} of the Auth object threw`, error);
  });
  if (answer) return scopeOfFilter(answer.result, event);
  logger.warn({ event, seconds: timeoutSeconds }, "an auth handler has not answered: the request is refused");
  throw new GraphServeError("auth_timeout", `the auth handler has not answered within ${timeoutSeconds} s`, {
    hint: "try again; the time limit is the setting auth_timeout_seconds",
  });
}

const failed = (what: string, cause?: unknown) => new GraphServeError("internal_error", what, { cause });

/** The filter in the form of scopes, which every storage can match: a list contains all values of the scope's list. */
function scopeOfFilter(result: unknown, event: string): JsonObject {
  if (result == null || result === true) return {};
  if (result === false) throw new AuthRefusal(403, `the user may not do this (${event})`);
  const invalid = (what: string) => failed(`the handler for ${event} of the Auth object returned ${what}`);
  if (!isRecord(result)) throw invalid("neither a filter nor a boolean");
  const entries = Object.entries(result).map(([key, condition]): [string, unknown] => {
    const value = conditionOf(condition);
    if (value === undefined) throw invalid(`a filter with an invalid value of ${JSON.stringify(key)}`);
    return [key, value];
  });
  return Object.fromEntries(entries);
}

function conditionOf(condition: unknown): unknown {
  if (isScalar(condition)) return condition;
  if (!isRecord(condition) || Object.keys(condition).length !== 1) return undefined;
  const { $eq: equal, $contains: contained } = condition;
  if (isScalar(equal)) return equal;
  const values: unknown[] = [contained].flat();
  return values.length > 0 && values.every(isScalar) ? values : undefined;
}

const isScalar = (value: unknown): boolean =>
  ["string", "boolean"].includes(typeof value) || Number.isFinite(value);

/** Both filters in one. @throws AuthRefusal if nothing can match both */
function together(one: JsonObject, other: JsonObject): JsonObject {
  const both = { ...one, ...other };
  for (const [key, value] of Object.entries(one)) {
    const second = other[key];
    if (!Object.hasOwn(other, key) || second === value) continue;
    if (!Array.isArray(value) || !Array.isArray(second))
      throw new AuthRefusal(
        403,
        `the filters of two auth handlers exclude each other: ${JSON.stringify(key)}`,
      );
    both[key] = [...new Set([...(value as unknown[]), ...(second as unknown[])])];
  }
  return both;
}

/** The user's auth function, or LangGraph's `Auth` object: loads it like graphs and validates its results. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseGraphTarget } from "../config/graph-target.js";
import { ConfigError, GraphServeError, UnauthorizedError } from "../support/errors.js";
import { withTimeout } from "../support/pause.js";
import { loadExport } from "../graphs/load.js";
import type { Logger } from "../support/log.js";
import type { Authenticate, AuthRequest, Authorize, Caller, Identity } from "../models/caller.js";
import { isRecord } from "../models/common.js";
import {
  assertAuthenticates,
  authenticatedUser,
  type AuthObject,
  AuthRefusal,
  authorize,
  isAuthObject,
  ownerOf,
} from "./auth-object.js";

const DEFAULT_EXPORT = "authenticate";
/** Maximum length of an identity in characters: each line of the access log contains it. */
const LONGEST_IDENTITY = 1_000;
/** Keys of thread metadata that the server writes. */
const RESERVED_KEYS = ["graph_id", "assistant_id", "graph_version", "forked_from"];

interface Loaded {
  /** `url` is the path with the query. */
  authenticate: (request: AuthRequest, url: string) => ReturnType<Authenticate>;
  /** Set for an object with handlers. */
  object?: AuthObject;
  /** The module and its imports; empty for a function passed as an option. */
  files: readonly string[];
}

export class AuthHook {
  readonly #load: () => Promise<Loaded>;
  readonly #logger: Logger;
  readonly #timeoutSeconds: number;
  #loaded: Loaded;

  private constructor(load: () => Promise<Loaded>, loaded: Loaded, timeoutSeconds: number, logger: Logger) {
    this.#load = load;
    this.#timeoutSeconds = timeoutSeconds;
    this.#loaded = loaded;
    this.#logger = logger;
  }

  /**
   * @param source the function itself, or `path:export`, relative to `cwd`
   * @throws ConfigError, GraphLoadError
   */
  static async open(
    source: Authenticate | string,
    { cwd, timeoutSeconds }: { cwd: string; timeoutSeconds: number },
    logger: Logger,
  ): Promise<AuthHook> {
    const load = async (): Promise<Loaded> =>
      typeof source === "string"
        ? loadHook(source, cwd)
        : { authenticate: (request) => source(request), files: [] };
    return new AuthHook(load, await load(), timeoutSeconds, logger);
  }

  get files(): readonly string[] {
    return this.#loaded.files;
  }

  /** Reloads the module. If that fails, the last loaded one stays in use. @throws ConfigError, GraphLoadError */
  async reload(): Promise<void> {
    this.#loaded = await this.#load();
  }

  /**
   * @throws UnauthorizedError if the function returns no identity or throws (`unauthorized`)
   * @throws GraphServeError if it does not answer in time (`auth_timeout`)
   */
  async callerOf(request: AuthRequest, url = request.path): Promise<Caller> {
    const { object } = this.#loaded;
    const user = await this.#callFunction(request, url);
    if (!user) throw new UnauthorizedError("the sender of this request could not be authenticated");
    if (!object) return { user, scope: scopeOf(user) };
    // Replaced by the filters of the handlers. Their user's metadata is not a scope.
    return { user, scope: scopeOf({ ...user, metadata: undefined }), owner: ownerOf(user) };
  }

  /** Undefined for an auth function. */
  get authorize(): Authorize | undefined {
    if (!this.#loaded.object) return undefined;
    const limits = { timeoutSeconds: this.#timeoutSeconds, logger: this.#logger };
    return (caller, events) => {
      const { object } = this.#loaded;
      if (!object) throw new ConfigError("auth: reloading replaced the Auth object by a function: restart");
      return authorize(object, caller, events, limits);
    };
  }

  async #callFunction(request: AuthRequest, url: string): Promise<Identity | null | undefined> {
    const { method, path } = request;
    try {
      const answer = Promise.resolve(this.#loaded.authenticate(request, url)).then((user) => ({ user }));
      const answered = await withTimeout(this.#timeoutSeconds * 1000, answer);
      if (answered) return answered.user;
    } catch (error) {
      if (error instanceof AuthRefusal) throw error;
      this.#logger.warn({ err: error, method, path }, "the auth function threw: the request is refused");
      return undefined;
    }
    const seconds = this.#timeoutSeconds;
    this.#logger.warn(
      { method, path, seconds },
      "the auth function has not answered: the request is refused",
    );
    throw new GraphServeError("auth_timeout", `the auth function has not answered within ${seconds} s`, {
      hint: "try again; the time limit is the setting auth_timeout_seconds",
    });
  }
}

async function loadHook(source: string, cwd: string): Promise<Loaded> {
  const { path: given, exportName = DEFAULT_EXPORT } = parseGraphTarget(source);
  const path = resolve(cwd, given);
  if (!existsSync(path)) {
    throw new ConfigError(`auth: file ${given} not found`, {
      hint: "check the path; it is resolved from the folder of the configuration",
    });
  }
  const { value, names, files } = await loadExport({ path, exportName }, { baseDir: cwd });
  if (isAuthObject(value)) {
    assertAuthenticates(value, source);
    return { object: value, authenticate: (request, url) => authenticatedUser(value, request, url), files };
  }
  if (typeof value !== "function") {
    throw new ConfigError(`auth: ${given} has no function "${exportName}"`, {
      hint: `exports there: ${names.join(", ") || "none"}`,
    });
  }
  return { authenticate: (request) => (value as Authenticate)(request), files };
}

/** Validates the result: one that would grant access to every thread, or to none, is an error of the auth function. */
function scopeOf(user: Identity): Caller["scope"] {
  const { identity, metadata } = user as Partial<Identity>;
  if (typeof identity !== "string" || !isText(identity))
    throw invalidResult("`identity` must be a non-empty string");
  if (identity.length > LONGEST_IDENTITY)
    throw invalidResult(`\`identity\` must have at most ${LONGEST_IDENTITY} characters`);
  if (metadata === undefined) return { owner: identity };
  if (!isRecord(metadata) || Object.keys(metadata).length === 0)
    throw invalidResult("`metadata` must be an object with at least one key");
  for (const [key, value] of Object.entries(metadata)) {
    if (RESERVED_KEYS.includes(key)) throw invalidResult(`\`metadata.${key}\` is written by the server`);
    const isScalar = ["string", "boolean"].includes(typeof value) || Number.isFinite(value);
    if (!isScalar || !isText(String(value)))
      throw invalidResult(`\`metadata.${key}\` must be a non-empty string, a number or a boolean`);
  }
  return { ...metadata };
}

const isText = (text: string): boolean => text !== "" && !text.includes("\0");

const invalidResult = (what: string): Error =>
  new TypeError(`the auth function's answer is not valid: ${what}`);

/** The user's function that verifies who sends a request: loaded as graphs are, its answers checked. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseGraphTarget } from "../config/graph-target.js";
import { ConfigError, GraphServeError, UnauthorizedError } from "../support/errors.js";
import { withTimeout } from "../support/pause.js";
import { loadExport } from "../graphs/load.js";
import type { Logger } from "../support/log.js";
import type { Authenticate, AuthRequest, Caller, Identity } from "../models/caller.js";
import { isRecord } from "../models/common.js";

const DEFAULT_EXPORT = "authenticate";
/** Longest identity in characters: it stands in each line of the access log. */
const LONGEST_IDENTITY = 1_000;
/** Metadata of threads that the server itself writes. */
const RESERVED_KEYS = ["graph_id", "assistant_id", "forked_from"];

interface Loaded {
  authenticate: Authenticate;
  /** The module and what it imports; none for a function that an embedder gave. */
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
   * @param source the function itself, or `path:export`, from the folder `cwd`; it has `timeoutSeconds` for each request
   * @throws ConfigError, GraphLoadError
   */
  static async open(
    source: Authenticate | string,
    { cwd, timeoutSeconds }: { cwd: string; timeoutSeconds: number },
    logger: Logger,
  ): Promise<AuthHook> {
    const load = async (): Promise<Loaded> =>
      typeof source === "string" ? loadHook(source, cwd) : { authenticate: source, files: [] };
    return new AuthHook(load, await load(), timeoutSeconds, logger);
  }

  get files(): readonly string[] {
    return this.#loaded.files;
  }

  /** Reload the module; one that does not load leaves the last good one. @throws ConfigError, GraphLoadError */
  async reload(): Promise<void> {
    this.#loaded = await this.#load();
  }

  /**
   * @throws UnauthorizedError if the function gives no identity, or throws (`unauthorized`)
   * @throws GraphServeError if it does not answer in time (`auth_timeout`)
   */
  async callerOf(request: AuthRequest): Promise<Caller> {
    const user = await this.#ask(request);
    if (!user) throw new UnauthorizedError("who sends this request could not be verified");
    return { user, scope: scopeOf(user) };
  }

  async #ask(request: AuthRequest): Promise<Identity | null | undefined> {
    const { method, path } = request;
    try {
      const answer = Promise.resolve(this.#loaded.authenticate(request)).then((user) => ({ user }));
      const answered = await withTimeout(this.#timeoutSeconds * 1000, answer);
      if (answered) return answered.user;
    } catch (error) {
      this.#logger.warn({ err: error, method, path }, "the auth function threw: the request is refused");
      return undefined;
    }
    const seconds = this.#timeoutSeconds;
    this.#logger.warn(
      { method, path, seconds },
      "the auth function has not answered: the request is refused",
    );
    throw new GraphServeError("auth_timeout", `the auth function has not answered within ${seconds} s`, {
      hint: "try again; the function's time is the setting auth_timeout_seconds",
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
  if (typeof value !== "function") {
    throw new ConfigError(`auth: ${given} has no function "${exportName}"`, {
      hint: `exports there: ${names.join(", ") || "none"}`,
    });
  }
  return { authenticate: value as Authenticate, files };
}

/** An answer that could open every thread, or none, is a fault of the function, not of the request. */
function scopeOf(user: Identity): Caller["scope"] {
  const { identity, metadata } = user as Partial<Identity>;
  if (typeof identity !== "string" || !isText(identity)) throw fault("`identity` must be a text");
  if (identity.length > LONGEST_IDENTITY)
    throw fault(`\`identity\` must have at most ${LONGEST_IDENTITY} characters`);
  if (metadata === undefined) return { owner: identity };
  if (!isRecord(metadata) || Object.keys(metadata).length === 0)
    throw fault("`metadata` must be an object with at least one key");
  for (const [key, value] of Object.entries(metadata)) {
    if (RESERVED_KEYS.includes(key)) throw fault(`\`metadata.${key}\` is written by the server`);
    const isScalar = ["string", "boolean"].includes(typeof value) || Number.isFinite(value);
    if (!isScalar || !isText(String(value)))
      throw fault(`\`metadata.${key}\` must be a text, a number or a boolean`);
  }
  return { ...metadata };
}

const isText = (text: string): boolean => text !== "" && !text.includes("\0");

const fault = (what: string): Error => new TypeError(`the auth function's answer is not valid: ${what}`);

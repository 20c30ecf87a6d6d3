/** The user's app, which receives requests before the server's routes. Loaded like graphs. */
import { existsSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { resolve } from "node:path";
import { parseGraphTarget } from "../config/graph-target.js";
import { ConfigError } from "../support/errors.js";
import { loadExport } from "../graphs/load.js";

/** An Express handler, app or router. */
export type NodeHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => void,
) => unknown;

/** The second argument of a fetch handler. A handler that passes the request on returns `passed`. */
interface FetchContext {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  /** Set by a handler that passes the request on: if it returns this response, the server handles the request. */
  passed?: Response;
  /** The new body of a request that was passed on, if the app has changed the parsed JSON. */
  body?: string;
}

/** Responds to a request, or returns nothing to pass it on. */
export type FetchHandler = (request: Request, context: FetchContext) => unknown;

export type HttpApp = { kind: "fetch"; fetch: FetchHandler } | { kind: "node"; handle: NodeHandler };

const DEFAULT_EXPORT = "default";
const KINDS =
  "export a Hono app, an Express app or router, (req, res, next) => ..., or an object with a function `fetch`";

interface Loaded {
  app: HttpApp;
  files: readonly string[];
}

export class HttpAppHook {
  readonly #load: () => Promise<Loaded>;
  #loaded: Loaded;

  private constructor(load: () => Promise<Loaded>, loaded: Loaded) {
    this.#load = load;
    this.#loaded = loaded;
  }

  /**
   * @param source `path:export`, relative to `cwd`; the export defaults to `default`
   * @throws ConfigError, GraphLoadError
   */
  static async open(source: string, cwd: string): Promise<HttpAppHook> {
    const load = () => loadApp(source, cwd);
    return new HttpAppHook(load, await load());
  }

  get app(): HttpApp {
    return this.#loaded.app;
  }

  get files(): readonly string[] {
    return this.#loaded.files;
  }

  /** Reloads the module. If that fails, the last loaded one stays in use. @throws ConfigError, GraphLoadError */
  async reload(): Promise<void> {
    this.#loaded = await this.#load();
  }
}

async function loadApp(source: string, cwd: string): Promise<Loaded> {
  const { path: given, exportName = DEFAULT_EXPORT } = parseGraphTarget(source);
  const path = resolve(cwd, given);
  if (!existsSync(path)) {
    throw new ConfigError(`http_app: file ${given} not found`, {
      hint: "check the path; it is resolved from the folder of the configuration",
    });
  }
  const { value, names, files } = await loadExport({ path, exportName }, { baseDir: cwd });
  if (!names.includes(exportName)) {
    throw new ConfigError(`http_app: ${given} has no export "${exportName}"`, {
      hint: `exports there: ${names.join(", ") || "none"}`,
    });
  }
  const app = httpAppOf(value);
  if (!app) throw new ConfigError(`http_app: ${given}:${exportName} is not an app`, { hint: KINDS });
  return { app, files };
}

/** Detects the kind of app; undefined if it is ambiguous. */
function httpAppOf(value: unknown): HttpApp | undefined {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  if (isHono(value)) return { kind: "fetch", fetch: wrapHono(value) };
  const { fetch, handle, use } = value as { fetch?: unknown; handle?: unknown; use?: unknown };
  if (typeof fetch === "function")
    return {
      kind: "fetch",
      fetch: (request, context) => (fetch as FetchHandler).call(value, request, context),
    };
  if (typeof value !== "function") return undefined;
  const isExpress = typeof handle === "function" && typeof use === "function";
  return isExpress || value.length === 3 ? { kind: "node", handle: value as NodeHandler } : undefined;
}

interface HonoContext {
  env: FetchContext;
  req: { json(): Promise<unknown> };
  body(stream: ReadableStream): Response;
}

/** The part of a Hono app that is used here, independent of the user's copy of Hono. */
interface Hono {
  fetch(request: Request, env: FetchContext): Response | Promise<Response>;
  use(path: string, handler: (context: HonoContext, next: () => Promise<void>) => Promise<void>): unknown;
  route(path: string, app: Hono): unknown;
  all(path: string, handler: (context: HonoContext) => Response | Promise<Response>): unknown;
  constructor: new () => Hono;
}

function isHono(value: object): value is Hono {
  const { fetch, route, all, routes } = value as Partial<
    Record<"fetch" | "route" | "all" | "routes", unknown>
  >;
  return [fetch, route, all].every((method) => typeof method === "function") && Array.isArray(routes);
}

/**
 * Wraps the app in another one, whose last route passes on requests that no middleware answered. The app passes a request
 * on if its middleware calls `next()`. A missing route or a 404 response does not pass it on.
 */
function wrapHono(app: Hono): FetchHandler {
  const outer = new app.constructor();
  const changes = new WeakMap<HonoContext, () => Promise<string | undefined>>();
  outer.use("*", (context, next) => {
    changes.set(context, sharedJson(context.req));
    return next();
  });
  outer.route("/", app);
  outer.all("*", async (context) => {
    context.env.body = await changes.get(context)?.();
    const nothing = new ReadableStream({ start: (controller) => controller.close() });
    return (context.env.passed = context.body(nothing));
  });
  return (request, context) => outer.fetch(request, context);
}

/**
 * Makes `req.json()` return the same value for all readers, so that middleware can change the body for later handlers.
 * Newer releases of Hono parse the body for each reader.
 * @returns a function that serializes the changed body; undefined if it has not changed
 */
function sharedJson(req: HonoContext["req"]): () => Promise<string | undefined> {
  const read = req.json.bind(req);
  let shared: Promise<{ value: unknown; before: string }> | undefined;
  req.json = async () => {
    shared ??= read().then((value) => ({ value, before: JSON.stringify(value) }));
    return (await shared).value;
  };
  return async () => {
    // The route rejects invalid JSON.
    const json = await shared?.catch(() => undefined);
    if (!json) return undefined;
    const after = JSON.stringify(json.value);
    return after === json.before ? undefined : after;
  };
}

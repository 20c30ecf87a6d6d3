/** What every request passes before its route: it gets an id, is logged, and its Host and Origin are checked. */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import cors from "cors";
import type { RequestHandler } from "express";
import type { Caller } from "../models/caller.js";
import type { Service } from "../service.js";
import { GraphServeError } from "../support/errors.js";
import { newId } from "../support/ids.js";
import type { Logger } from "../support/log.js";

/** What is known of a request before its route: noted here, and read behind. */
interface RequestFacts {
  /** Id of the request, in its answer and in the log. */
  id: string;
  /** Name of the API key that it came with. */
  key?: string;
  caller?: Caller;
  /** The body, where a layer in front of the routes has read it. */
  body?: Buffer;
}

const facts = new WeakMap<IncomingMessage, RequestFacts>();

function noteRequest(req: IncomingMessage, id: string): void {
  facts.set(req, { id });
}

/** The facts of a request that `noteRequest` has seen; they may be added to. */
export function factsOf(req: IncomingMessage): RequestFacts {
  return facts.get(req) ?? { id: "" };
}

/** What proxies and tracing libraries use for ids, and nothing that could forge a line of a log. */
const SANE = /^[\w.:/+=@-]{1,128}$/;

/** Gives every request an id, its own `x-request-id` where that will do, and sends it back. */
export function requestId(): RequestHandler {
  return (req, res, next) => {
    const given = req.headers["x-request-id"];
    const id = typeof given === "string" && SANE.test(given) ? given : newId();
    noteRequest(req, id);
    res.setHeader("X-Request-Id", id);
    next();
  };
}

/** Logs every request once its answer is complete, or its client gone: who sent it, never a query, a header or a body. */
export function accessLog(logger: Logger): RequestHandler {
  return (req, res, next) => {
    const start = performance.now();
    const path = req.originalUrl.split("?", 1)[0];
    res.once("close", () => {
      const ms = Math.round((performance.now() - start) * 10) / 10;
      const aborted = !res.writableFinished;
      const { id, key, caller } = factsOf(req);
      const sender = { ...(key !== undefined && { key }), ...(caller && { user: caller.user.identity }) };
      logger.info(
        {
          request_id: id,
          method: req.method,
          path,
          status: res.statusCode,
          ms,
          ...sender,
          ...(aborted && { aborted }),
        },
        "request",
      );
    });
    next();
  };
}

/** Browsers take an answer for what it says it is, whatever it looks like. */
export const noSniffing: RequestHandler = (_req, res, next) => {
  res.setHeader("X-Content-Type-Options", "nosniff");
  next();
};

// Who may talk to the server: the Host allow-list, the Origin check and CORS.

type Settings = Service["settings"];

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

const EXPOSED_HEADERS = [
  "Content-Location",
  "Location",
  "X-Pagination-Total",
  "X-Pagination-Next",
  "X-Tokens-Used",
  "X-Request-Id",
];

/**
 * Refuses a request whose Host header names a host that is not ours: a web page that has bound its own name to our
 * address (DNS rebinding) gets no further.
 */
export function hostGuard(settings: Pick<Settings, "host" | "allowed_hosts">): RequestHandler {
  const names = [settings.host, ...settings.allowed_hosts].map((name) => name.toLowerCase());
  let lastAllowed: string | undefined;
  return (req, _res, next) => {
    const host = req.headers.host;
    // Only HTTP/1.0 clients send none, and no browser is one.
    if (host === undefined || host === lastAllowed) return next();
    if (!isAllowedHost(hostName(host), names)) {
      throw new GraphServeError(
        "forbidden_origin",
        `host ${JSON.stringify(host.slice(0, 100))} is not allowed`,
        {
          hint: "add its name to the setting allowed_hosts",
        },
      );
    }
    lastAllowed = host;
    next();
  };
}

function hostName(host: string): string {
  const name = host.startsWith("[") ? host.slice(1).split("]", 1)[0] : host.split(":", 1)[0];
  return (name ?? "").toLowerCase().replace(/\.$/, "");
}

function isAllowedHost(name: string, names: readonly string[]): boolean {
  if (name === "localhost" || name.endsWith(".localhost") || isIP(name) !== 0) return true;
  return names.some((allowed) => allowed === "*" || allowed === name);
}

type OriginSettings = Pick<Settings, "cors_origins" | "cors_origin_regex">;

/** Pages of this machine: whoever has one open may work with the server that runs beside it. */
const LOOPBACK = /^https?:\/\/(localhost|([a-z0-9-]+\.)+localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/;

/** The origins of the settings, each as it is or as a pattern; undefined when any will do. */
function originRules({ cors_origins, cors_origin_regex }: OriginSettings): (string | RegExp)[] | undefined {
  if (cors_origins.includes("*")) return undefined;
  const rules = cors_origins.map((origin) => (origin === "loopback" ? LOOPBACK : origin.toLowerCase()));
  return cors_origin_regex === undefined ? rules : [...rules, new RegExp(`^(?:${cors_origin_regex})$`)];
}

/**
 * Refuses an unsafe method sent by a web page of an origin that CORS does not allow. CORS alone would let it happen:
 * bodies are accepted as text/plain, which browsers send without asking first. With `cors_origins: ["*"]` every origin
 * is allowed, and this check refuses nothing.
 */
export function originGuard(settings: OriginSettings): RequestHandler {
  const rules = originRules(settings);
  if (!rules) return (_req, _res, next) => next();
  return (req, _res, next) => {
    const { origin, host } = req.headers;
    if (origin === undefined || SAFE_METHODS.has(req.method)) return next();
    if (isSameOrigin(origin, host) || rules.some((rule) => fits(origin, rule))) return next();
    throw new GraphServeError(
      "forbidden_origin",
      `origin ${JSON.stringify(origin.slice(0, 100))} is not allowed`,
      {
        hint: "add it to the setting cors_origins, or to --cors-origin",
      },
    );
  };
}

const fits = (origin: string, rule: string | RegExp): boolean =>
  typeof rule === "string" ? rule === origin : rule.test(origin);

function isSameOrigin(origin: string, host: string | undefined): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

type CorsSettings = OriginSettings &
  Pick<
    Settings,
    "cors_methods" | "cors_headers" | "cors_expose_headers" | "cors_credentials" | "cors_max_age"
  >;

export function corsHeaders(settings: CorsSettings): RequestHandler {
  const { cors_methods: methods, cors_headers: headers, cors_credentials: credentials } = settings;
  return cors({
    // Browsers take * for no origin at all where credentials are sent.
    origin: originRules(settings) ?? (credentials ? true : "*"),
    methods: methods.includes("*") ? METHODS : [...methods],
    // Left out, the package reflects the headers that the browser asks for.
    ...(headers.length > 0 && !headers.includes("*") && { allowedHeaders: [...headers] }),
    exposedHeaders: [...EXPOSED_HEADERS, ...settings.cors_expose_headers],
    credentials,
    ...(settings.cors_max_age !== undefined && { maxAge: settings.cors_max_age }),
    optionsSuccessStatus: 204,
  });
}

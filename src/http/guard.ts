/** Who may talk to the server: the Host allow-list, the Origin check and CORS. */
import { isIP } from "node:net";
import cors from "cors";
import type { RequestHandler } from "express";
import { GraphServeError } from "../support/errors.js";
import type { Service } from "../service.js";

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

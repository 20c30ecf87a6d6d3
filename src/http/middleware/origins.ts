/** Access checks for requests of web pages: allowed hosts, allowed origins and CORS. */
import { isIP } from "node:net";
import cors from "cors";
import type { RequestHandler } from "express";
import type { Service } from "../../service/service.js";
import { GraphServeError } from "../../support/errors.js";
import { upgradeOf } from "../websocket/upgrades.js";

type Settings = Service["settings"];

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

const EXPOSED_HEADERS = [
  "Content-Location",
  "Location",
  "X-Pagination-Total",
  "X-Pagination-Next",
  "X-Tokens-Used",
  "X-Cost-Used",
  "X-Request-Id",
];
/** Headers that browser-based MCP clients read. */
const MCP_HEADERS = ["Mcp-Session-Id"];

/**
 * Rejects a request whose Host header is not allowed. This prevents DNS rebinding, where a web page
 * points its own host name to our address.
 */
export function hostGuard(settings: Pick<Settings, "host" | "allowed_hosts">): RequestHandler {
  const names = [settings.host, ...settings.allowed_hosts].map((name) => name.toLowerCase());
  let lastAllowed: string | undefined;
  return (req, _res, next) => {
    const host = req.headers.host;
    // Only HTTP/1.0 clients omit it; browsers never do.
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

/** Origins on this machine: their users can access a local server anyway. */
const LOOPBACK = /^https?:\/\/(localhost|([a-z0-9-]+\.)+localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/;

/** The allowed origins, as strings or patterns; undefined if all are allowed. */
function originRules({ cors_origins, cors_origin_regex }: OriginSettings): (string | RegExp)[] | undefined {
  if (cors_origins.includes("*")) return undefined;
  const rules = cors_origins.map((origin) => (origin === "loopback" ? LOOPBACK : origin.toLowerCase()));
  return cors_origin_regex === undefined ? rules : [...rules, new RegExp(`^(?:${cors_origin_regex})$`)];
}

/**
 * Rejects an unsafe method sent by a web page whose origin CORS does not allow. CORS alone is not
 * sufficient: bodies are accepted as text/plain, which browsers send without a preflight. With
 * `cors_origins: ["*"]` every origin is allowed, and this check has no effect.
 */
export function originGuard(settings: OriginSettings): RequestHandler {
  const rules = originRules(settings);
  if (!rules) return (_req, _res, next) => next();
  return (req, _res, next) => {
    const { origin, host, "sec-fetch-site": site } = req.headers;
    // Images and links on other sites send requests without an origin.
    if (site === "cross-site" && origin === undefined && "cancel_on_disconnect" in req.query)
      throw new GraphServeError(
        "forbidden_origin",
        "cancel_on_disconnect is not allowed in requests from another site",
      );
    // Web pages can open a WebSocket to any server; CORS does not apply.
    if (origin === undefined || (SAFE_METHODS.has(req.method) && !upgradeOf(req))) return next();
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
    "cors_methods" | "cors_headers" | "cors_expose_headers" | "cors_credentials" | "cors_max_age" | "mcp"
  >;

export function corsHeaders(settings: CorsSettings): RequestHandler {
  const { cors_methods: methods, cors_headers: headers, cors_credentials: credentials } = settings;
  return cors({
    // Browsers do not accept * for requests with credentials.
    origin: originRules(settings) ?? (credentials ? true : "*"),
    methods: methods.includes("*") ? METHODS : [...methods],
    // Without the option, the package reflects the requested headers.
    ...(headers.length > 0 && !headers.includes("*") && { allowedHeaders: [...headers] }),
    exposedHeaders: [
      ...EXPOSED_HEADERS,
      ...(settings.mcp ? MCP_HEADERS : []),
      ...settings.cors_expose_headers,
    ],
    credentials,
    ...(settings.cors_max_age !== undefined && { maxAge: settings.cors_max_age }),
    optionsSuccessStatus: 204,
  });
}

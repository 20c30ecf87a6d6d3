/** Who may talk to the server: the Host allow-list, the Origin check and CORS. */
import { isIP } from "node:net";
import cors from "cors";
import type { RequestHandler } from "express";
import { GraphServeError } from "../errors.js";
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

/**
 * Refuses an unsafe method sent by a web page of an origin that CORS does not allow. CORS alone would let it happen:
 * bodies are accepted as text/plain, which browsers send without asking first. With the default `cors_origins: ["*"]`
 * every origin is allowed, and this check refuses nothing.
 */
export function originGuard({ cors_origins: origins }: Pick<Settings, "cors_origins">): RequestHandler {
  if (origins.includes("*")) return (_req, _res, next) => next();
  return (req, _res, next) => {
    const { origin, host } = req.headers;
    if (origin === undefined || SAFE_METHODS.has(req.method) || origins.includes(origin)) return next();
    if (isSameOrigin(origin, host)) return next();
    throw new GraphServeError(
      "forbidden_origin",
      `origin ${JSON.stringify(origin.slice(0, 100))} is not allowed`,
      {
        hint: "add it to the setting cors_origins",
      },
    );
  };
}

function isSameOrigin(origin: string, host: string | undefined): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

export function corsHeaders(
  settings: Pick<Settings, "cors_origins" | "cors_methods" | "cors_headers">,
): RequestHandler {
  return cors({
    origin: settings.cors_origins.includes("*") ? "*" : [...settings.cors_origins],
    methods: [...settings.cors_methods],
    // Left out, the package reflects the headers that the browser asks for.
    ...(settings.cors_headers.length > 0 && { allowedHeaders: [...settings.cors_headers] }),
    exposedHeaders: EXPOSED_HEADERS,
    optionsSuccessStatus: 204,
  });
}

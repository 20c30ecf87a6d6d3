/** Checks the Origin header of requests from web pages. */
import type { RequestHandler } from "express";
import type { Service } from "../../service/service.js";
import { GraphServeError } from "../../support/errors.js";
import { upgradeOf } from "../websocket/upgrades.js";

type Settings = Service["settings"];

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

export type OriginSettings = Pick<Settings, "cors_origins" | "cors_origin_regex">;

/** Origins on this machine: their users can access a local server anyway. */
const LOOPBACK = /^https?:\/\/(localhost|([a-z0-9-]+\.)+localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/;

/** The allowed origins, as strings or patterns; undefined if all are allowed. */
export function originRules({
  cors_origins,
  cors_origin_regex,
}: OriginSettings): (string | RegExp)[] | undefined {
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

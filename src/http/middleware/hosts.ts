/** Checks the Host header of requests. */
import { isIP } from "node:net";
import type { RequestHandler } from "express";
import { GraphServeError } from "../../support/errors.js";
import type { Service } from "../../service/service.js";

type Settings = Service["settings"];

/**
 * Rejects a request with two Host headers, because proxies and servers may disagree on which one counts (RFC 9112, 3.2),
 * and a request whose host is not allowed. The latter prevents DNS rebinding, where a web page points its own host name
 * to our address.
 * @param settings the allowed hosts; all if omitted
 */
export function hostGuard(settings?: Pick<Settings, "host" | "allowed_hosts">): RequestHandler {
  const names = settings && [settings.host, ...settings.allowed_hosts].map((name) => name.toLowerCase());
  let lastAllowed: string | undefined;
  return ({ headers: { host }, rawHeaders }, res, next) => {
    let hosts = 0;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at];
      if (name?.length === 4 && name.toLowerCase() === "host") hosts += 1;
    }
    if (hosts > 1) {
      const detail = "the request has more than one Host header";
      return void res.status(400).json({ detail, code: "invalid_request" });
    }
    // Only HTTP/1.0 clients omit it; browsers never do.
    if (!names || host === undefined || host === lastAllowed) return next();
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

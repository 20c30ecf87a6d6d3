import type { Settings } from "../config/settings.js";

/** Warn when other machines can reach the server, which asks nobody who they are. */
export function warnIfPublic(
  { host, api_keys, auth }: Pick<Settings, "host" | "api_keys" | "auth">,
  warn: (message: string) => void,
): void {
  if (isLoopback(host) || api_keys !== undefined || auth !== undefined) return;
  warn(
    `${host} is reachable from other machines and callers are not authenticated: set api_keys or auth, or put a proxy that does it in front`,
  );
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || host.startsWith("127.");
}

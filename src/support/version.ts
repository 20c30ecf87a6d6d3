import { readFileSync } from "node:fs";

function packageVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/**
 * Version of this package, as reported by the health, info and initial-message endpoints
 * (docs/specification.md#versions, 2).
 * @example
 * ```ts
 * import { VERSION } from "graph-serve";
 *
 * /^\d+\.\d+\.\d+/.test(VERSION); // => true
 * ```
 */
export const VERSION = packageVersion();

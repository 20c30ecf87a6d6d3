/** Puts environment variables into the strings of a configuration. */
import type { SettingPath } from "./document.js";

export type Variables = Readonly<Record<string, string | undefined>>;

/** A variable that is not set, and the value that asks for it. */
export interface MissingVariable {
  name: string;
  path: SettingPath;
}

const REFERENCE = /\$\$\{|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

export function hasReference(value: unknown): boolean {
  return typeof value === "string" && value.includes("${");
}

/**
 * Replace `${VAR}` and `${VAR:-default}` in every string of `value`; `$${` stands for a plain `${`. As in a shell, the
 * default also replaces an empty variable.
 */
export function expandVariables(
  value: unknown,
  env: Variables,
): { value: unknown; missing: MissingVariable[] } {
  const missing: MissingVariable[] = [];
  const walk = (part: unknown, path: SettingPath): unknown => {
    if (typeof part === "string") {
      return part.replace(REFERENCE, (whole, name: string | undefined, fallback: string | undefined) => {
        if (name === undefined) return "${";
        const found = fallback === undefined ? env[name] : env[name] || fallback;
        if (found === undefined) missing.push({ name, path });
        return found ?? whole;
      });
    }
    if (Array.isArray(part)) return part.map((item, index) => walk(item, [...path, index]));
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, item]) => [key, walk(item, [...path, key])]));
  };
  return { value: walk(value, []), missing };
}

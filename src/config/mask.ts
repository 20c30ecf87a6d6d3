import type { Settings } from "./settings.js";

const MASK = "********";

/** The text with the password of every URI in it hidden. */
export function maskPasswords(text: string): string {
  return text
    .replace(/([a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):(?:[^\s/]*|[^\s@]*)@/gi, `$1:${MASK}@`)
    .replace(/([?&](?:password|secret|token|api[_-]?key)=)[^&\s]*/gi, `$1${MASK}`);
}

/** The settings without their secrets: passwords in URIs, variables, keys, options that are named like one. */
export function maskSettings(settings: Settings): Record<string, unknown> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, maskValue(name, value)]));
}

function maskValue(name: string, value: unknown): unknown {
  if (typeof value === "string") return isSecretName(name) ? MASK : maskPasswords(value);
  if (Array.isArray(value)) return value.map((item) => maskValue(name, item));
  if (typeof value !== "object" || value === null) return value;
  const hideAll = name === "env";
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      hideAll ? MASK : maskValue(secretName(name, key), item),
    ]),
  );
}

/** An entry of `api_keys` has its key under `key`. */
const secretName = (parent: string, key: string) => (parent === "api_keys" && key === "key" ? parent : key);

function isSecretName(name: string): boolean {
  return /password|passphrase|secret|token|api_?key|credential/i.test(name);
}

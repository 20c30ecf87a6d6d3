/** Removes secrets from recordings and snapshots, because these files get committed. */
import { isRecord } from "../../models/common.js";
import { ConfigError } from "../../support/errors.js";
import { errorMessage } from "../../support/errors/thrown.js";

const MARK = "[redacted]";
const SECRET_NAME =
  /password|passphrase|secret|api_?-?key|credential|authorization|^(access_|auth_|bearer_|refresh_)?token$/i;
const SECRET_VARIABLE = /password|secret|key|token|credential/i;
const SHORTEST = 8;

/** Common formats of keys and tokens. */
const PATTERNS = [
  /\b(sk|pk|rk|key|lsv2_\w\w)[-_][A-Za-z0-9_-]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\bAIza[0-9A-Za-z_-]{30,}/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g,
  /(?<=\b[Bb]earer )[\w.~+/-]{12,}=*/g,
  /(?<=:\/\/[^\s:/@]{0,64}:)[^\s/@]+(?=@)/g,
];

export type Redact = <T>(value: T) => T;

/** Redacts nothing. */
export const keepSecrets: Redact = (value) => value;

/**
 * Creates a function that redacts strings that look like secrets, keys named like secrets, and values of such variables.
 * @param more regular expressions of other texts to redact, of the setting `recording.redact`
 * @throws ConfigError for an invalid one (`config_invalid`)
 */
export function createRedaction(
  env: Readonly<Record<string, string | undefined>>,
  more: readonly string[] = [],
): Redact {
  const patterns = [...PATTERNS, ...more.map(patternOf)];
  const secrets = Object.entries(env).flatMap(([name, value]) =>
    SECRET_VARIABLE.test(name) && value !== undefined && value.length >= SHORTEST ? [value] : [],
  );
  // Replace the longest first, because one secret can be a prefix of another.
  secrets.sort((a, b) => b.length - a.length);
  const inText = (text: string): string => {
    const known = secrets.reduce((rest, secret) => rest.replaceAll(secret, MARK), text);
    return patterns.reduce((rest, pattern) => rest.replace(pattern, MARK), known);
  };
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") return inText(value);
    if (Array.isArray(value)) return value.map(walk);
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        typeof inner === "string" && SECRET_NAME.test(key) ? MARK : walk(inner),
      ]),
    );
  };
  return (value) => walk(value) as typeof value;
}

function patternOf(text: string): RegExp {
  try {
    return new RegExp(text, "gu");
  } catch (error) {
    throw new ConfigError(`recording.redact: ${errorMessage(error)}`, { cause: error });
  }
}

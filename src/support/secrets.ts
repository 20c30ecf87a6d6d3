/** Recognizes the names of secrets and masks their values. */

export const MASK = "********";

/** API key that commands send to the server of --url. It is not a setting. */
export const CLIENT_KEY_VARIABLE = "GRAPH_SERVE_API_KEY";

/** Words that mark a name as a secret. */
const SECRET_WORDS = new Set(
  "key token secret password passwd passphrase pwd auth oauth authorization bearer jwt cookie credential".split(
    " ",
  ),
);
/** Next to one of these words, the name is a count or a label: max_tokens, token_count, key_prefix. */
const HARMLESS_WORDS = new Set(
  "max min count limit budget size length total usage used input output prompt completion prefix type ttl".split(
    " ",
  ),
);
/** Compound words: apikey, accesstoken, dbpassword. */
const RUN_TOGETHER =
  /(api|app|access|auth|secret|private|session|client|user|service|account|master|signing|encryption)key$|(token|secret|password|passwd|passphrase|credential)$/;
const LONGEST_NAME = 256;
const BETWEEN_WORDS = /(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z\d]+/;

/** Cache of results: the same keys occur in every checkpoint. */
const known = new Map<string, boolean>();
const NAMES_KEPT = 1000;

/** Whether a name, in any case style, is that of a secret: `openaiApiKey`, `x-api-key`, `access_tokens`. */
export function namesSecret(name: string): boolean {
  // A name this long is probably a value.
  if (name.length > LONGEST_NAME) return true;
  let isSecret = known.get(name);
  if (isSecret === undefined) {
    if (known.size >= NAMES_KEPT) known.clear();
    known.set(name, (isSecret = hasSecretWord(name)));
  }
  return isSecret;
}

function hasSecretWord(name: string): boolean {
  const words = name
    .split(BETWEEN_WORDS)
    .map((word) => word.toLowerCase().replace(/\d+$/, "").replace(/s$/, ""));
  return words.some(isSecretWord) && !words.some((word) => HARMLESS_WORDS.has(word));
}

const isSecretWord = (word: string): boolean => SECRET_WORDS.has(word) || RUN_TOGETHER.test(word);

/** Masks the password of every URI in a text, in linear time. */
export function maskPasswords(text: string): string {
  const masked = text.includes("://") ? maskUserInfo(text) : text;
  if (!masked.includes("=")) return masked;
  return masked.replace(/([?&](?:password|secret|token|api[_-]?key)=)[^&\s]*/gi, `$1${MASK}`);
}

/** Processes each part without white space separately, because a URI contains none. */
const maskUserInfo = (text: string): string => text.replace(/\S+/g, maskInPart);

function maskInPart(part: string): string {
  let masked = "";
  let taken = 0;
  for (let scheme = part.indexOf("://"); scheme >= 0; scheme = part.indexOf("://", scheme)) {
    USER.lastIndex = scheme += 3;
    scheme += USER.exec(part)?.[0].length ?? 0;
    if (part[scheme] !== ":") continue;
    const end = passwordEnd(part, scheme + 1);
    // Without an "@", later URIs in the part have no password either.
    if (end === undefined) break;
    masked += `${part.slice(taken, scheme)}:${MASK}`;
    taken = scheme = end;
  }
  return masked + part.slice(taken);
}

const USER = /[^:/@]*/y;

/**
 * Position of the "@" that ends a password: the last one before a slash, or the first one if the
 * password contains a slash.
 */
function passwordEnd(part: string, start: number): number | undefined {
  const slash = part.indexOf("/", start);
  const last = part.lastIndexOf("@", slash < 0 ? undefined : slash);
  if (last >= start) return last;
  const first = part.indexOf("@", start);
  return first < 0 ? undefined : first;
}

/**
 * Masks the secrets in a JSON value: every string under a secret's name, and passwords in URIs.
 * Numbers and booleans are kept, because most of those with secret-like names are not secrets.
 */
export function maskSecrets<T>(value: T, isSecret = false): T {
  if (typeof value === "string") return (isSecret ? MASK : maskPasswords(value)) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => maskSecrets(item, isSecret)) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [
    key,
    maskSecrets(item, isSecret || namesSecret(key)),
  ]);
  return Object.fromEntries(entries) as T;
}

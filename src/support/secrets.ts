/** Which names are those of secrets, and values with their secrets hidden. */

export const MASK = "********";

/** The key that commands send to the server of --url: theirs, and no setting. */
export const CLIENT_KEY_VARIABLE = "GRAPH_SERVE_API_KEY";

/** Words of a name that make it one of a secret. */
const SECRET_WORDS = new Set(
  "key token secret password passwd passphrase pwd auth oauth authorization bearer jwt cookie credential".split(
    " ",
  ),
);
/** Beside one of these, the word counts or labels: max_tokens, token_count, key_prefix. */
const HARMLESS_WORDS = new Set(
  "max min count limit budget size length total usage used input output prompt completion prefix type ttl".split(
    " ",
  ),
);
/** Words run together: apikey, accesstoken, dbpassword. */
const RUN_TOGETHER =
  /(api|app|access|auth|secret|private|session|client|user|service|account|master|signing|encryption)key$|(token|secret|password|passwd|passphrase|credential)$/;
const LONGEST_NAME = 256;
const BETWEEN_WORDS = /(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z\d]+/;

/** What is known of names: the same keys come with every checkpoint. */
const known = new Map<string, boolean>();
const NAMES_KEPT = 1000;

/** Whether a name, in whatever case, is that of a secret: `openaiApiKey`, `x-api-key`, `access_tokens`. */
export function namesSecret(name: string): boolean {
  // That long, it is rather a value itself.
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

/** The text with the password of every URI in it hidden. Its time grows with the text's length and no faster. */
export function maskPasswords(text: string): string {
  const masked = text.includes("://") ? maskUserInfo(text) : text;
  if (!masked.includes("=")) return masked;
  return masked.replace(/([?&](?:password|secret|token|api[_-]?key)=)[^&\s]*/gi, `$1${MASK}`);
}

/** One part without white space after the other: a URI is in one of them. */
const maskUserInfo = (text: string): string => text.replace(/\S+/g, maskInPart);

function maskInPart(part: string): string {
  let masked = "";
  let taken = 0;
  for (let scheme = part.indexOf("://"); scheme >= 0; scheme = part.indexOf("://", scheme)) {
    USER.lastIndex = scheme += 3;
    scheme += USER.exec(part)?.[0].length ?? 0;
    if (part[scheme] !== ":") continue;
    const end = passwordEnd(part, scheme + 1);
    // No URI after this one has a password either.
    if (end === undefined) break;
    masked += `${part.slice(taken, scheme)}:${MASK}`;
    taken = scheme = end;
  }
  return masked + part.slice(taken);
}

const USER = /[^:/@]*/y;

/** The "@" that ends a password: the last one before a slash; a password with a slash in it ends with the first. */
function passwordEnd(part: string, start: number): number | undefined {
  const slash = part.indexOf("/", start);
  const last = part.lastIndexOf("@", slash < 0 ? undefined : slash);
  if (last >= start) return last;
  const first = part.indexOf("@", start);
  return first < 0 ? undefined : first;
}

/**
 * The JSON value with its secrets hidden: every text under a key that names one, and the passwords of URIs. Numbers
 * and booleans stay: what is named like a secret and is none is mostly one of these.
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

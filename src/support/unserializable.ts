/** Values of graphs that JSON cannot carry: neither storages nor clients can have them. */
import { tryOr, errorMessage, errorName, InvalidRequestError } from "./errors.js";

/** How deep a value of a graph may be nested: beyond, reading it back would exhaust the stack. */
export const MAX_SERIALIZABLE_DEPTH = 500;
/** Values that are looked at in search of the one at fault. */
const MOST_VALUES = 1_000_000;
/** Maximum number of path keys in a message. */
const LONGEST_PATH = 12;

type Path = readonly (string | number)[];

/** The value at fault, as a path such as `notes[0].at`, and what is wrong with it, such as "is a BigInt". */
export interface Unserializable {
  path: string;
  what: string;
}

/** A value that a graph returned, wrote, asked or streamed, and that can be neither stored nor sent. */
export class UnserializableError extends InvalidRequestError {
  readonly fault: Unserializable;

  /** `what` names the value and says what it is unfit for: `state key "notes" cannot be stored`. */
  constructor(what: string, fault: Unserializable, cause?: unknown) {
    super(`${what}: ${fault.path} ${fault.what}`, undefined, { cause });
    this.fault = fault;
  }
}

/** The message of an error that has no path. */
export function reasonOf(error: unknown): string {
  const message = errorMessage(error);
  return /call stack/.test(message) ? "it is nested too deep" : `${errorName(error)}: ${message}`;
}

interface FaultOptions {
  /** What the path begins with. */
  name: string;
  /** Whether a BigInt is allowed. */
  bigints?: boolean;
}

/**
 * Find what keeps a value from becoming JSON; undefined when nothing is found. Slow: for values that were refused
 * already. Never throws.
 */
export function findUnserializable(
  value: unknown,
  { name, bigints = false }: FaultOptions,
): Unserializable | undefined {
  if (typeof value === "function" || typeof value === "symbol")
    return { path: name, what: `is a ${typeof value}, which cannot be serialized` };
  return new Search(name, bigints).look(value, [], true);
}

class Search {
  readonly #name: string;
  readonly #bigints: boolean;
  /** Objects that were looked at, or are being. */
  readonly #seen = new Map<object, "open" | "sound">();

  constructor(name: string, bigints: boolean) {
    this.#name = name;
    this.#bigints = bigints;
  }

  /** `asks` is false for what a toJSON returned: its own toJSON is not asked. */
  look(value: unknown, path: Path, asks: boolean): Unserializable | undefined {
    if (!this.#bigints && (typeof value === "bigint" || tryOr(() => value instanceof BigInt)))
      return this.#at(path, "is a BigInt, which JSON does not have: make it a text or a number");
    if (typeof value !== "object" || value === null) return undefined;
    if (this.#seen.get(value) === "open") return this.#at(path, "holds itself");
    if (this.#seen.has(value) || this.#seen.size >= MOST_VALUES) return undefined;
    if (path.length > MAX_SERIALIZABLE_DEPTH)
      return this.#at(path, `is nested more than ${MAX_SERIALIZABLE_DEPTH} deep`);
    this.#seen.set(value, "open");
    const fault = this.#inside(value, path, asks);
    this.#seen.set(value, "sound");
    return fault;
  }

  #inside(value: object, path: Path, asks: boolean): Unserializable | undefined {
    let keys: Path;
    try {
      const { toJSON } = value as { toJSON?: unknown };
      if (asks && typeof toJSON === "function") return this.#asked(value, path);
      if (value instanceof Map) return this.#inMap(value as Map<unknown, unknown>, path);
      if (value instanceof Set) return this.look([...(value as Set<unknown>)], path, true);
      if (value instanceof Error || ArrayBuffer.isView(value)) return undefined;
      keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
    } catch (error) {
      return this.#at(path, `cannot be read: ${reasonOf(error)}`);
    }
    for (const key of keys) {
      const fault = this.#below(value, key, [...path, key]);
      if (fault) return fault;
    }
    return undefined;
  }

  #below(value: object, key: string | number, path: Path): Unserializable | undefined {
    let inner: unknown;
    try {
      inner = (value as Record<string | number, unknown>)[key];
    } catch (error) {
      return this.#at(path, `cannot be read: ${reasonOf(error)}`);
    }
    return this.look(inner, path, true);
  }

  #inMap(map: Map<unknown, unknown>, path: Path): Unserializable | undefined {
    for (const [key, inner] of map) {
      const at = [...path, typeof key === "string" || typeof key === "number" ? key : "(key)"];
      const fault = this.look(key, at, true) ?? this.look(inner, at, true);
      if (fault) return fault;
    }
    return undefined;
  }

  #asked(value: object, path: Path): Unserializable | undefined {
    let json: unknown;
    try {
      json = (value as { toJSON(): unknown }).toJSON();
    } catch (error) {
      return this.#at(path, `has a toJSON that threw ${reasonOf(error)}`);
    }
    return json === value ? undefined : this.look(json, path, false);
  }

  #at(path: Path, what: string): Unserializable {
    return { path: this.#name + pathText(path), what };
  }
}

function pathText(path: Path): string {
  const told = path.slice(0, LONGEST_PATH).map((key) => {
    if (typeof key === "number") return `[${key}]`;
    return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 100))}]`;
  });
  return told.join("") + (path.length > told.length ? "..." : "");
}

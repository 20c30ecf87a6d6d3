/** Finds values that JSON cannot represent; they can be neither stored nor sent. */
import { InvalidRequestError } from "./errors.js";
import { tryOr, errorMessage, errorName } from "./errors/thrown.js";

/** Maximum nesting depth of a value: reading a deeper one back would exhaust the stack. */
export const MAX_SERIALIZABLE_DEPTH = 500;
/** Maximum number of values inspected per search. */
const MOST_VALUES = 1_000_000;
/** Maximum number of path keys in a message. */
const LONGEST_PATH = 12;

type Path = readonly (string | number)[];

/** Path of the invalid value, such as `notes[0].at`, and the reason, such as "is a BigInt". */
export interface Unserializable {
  path: string;
  what: string;
}

/** A graph returned, wrote, streamed or interrupted with a value that can be neither stored nor sent. */
export class UnserializableError extends InvalidRequestError {
  readonly fault: Unserializable;

  /** @param what subject and consequence, such as `state key "notes" cannot be stored` */
  constructor(what: string, fault: Unserializable, cause?: unknown) {
    super(`${what}: ${fault.path} ${fault.what}`, undefined, { cause });
    this.fault = fault;
  }
}

/** Message for an error that has no path. */
export function reasonOf(error: unknown): string {
  const message = errorMessage(error);
  return /call stack/.test(message) ? "it is nested too deeply" : `${errorName(error)}: ${message}`;
}

interface FaultOptions {
  name: string;
  bigints?: boolean;
}

/**
 * Finds the value that prevents serialization; undefined if none is found. Slow: call it only after
 * serialization has failed. Never throws.
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
  /** Inspected objects; `open` while their content is being inspected. */
  readonly #seen = new Map<object, "open" | "sound">();

  constructor(name: string, bigints: boolean) {
    this.#name = name;
    this.#bigints = bigints;
  }

  /** @param usesToJson false for the result of a toJSON, whose own toJSON is not called */
  look(value: unknown, path: Path, usesToJson: boolean): Unserializable | undefined {
    if (!this.#bigints && (typeof value === "bigint" || tryOr(() => value instanceof BigInt)))
      return this.#at(path, "is a BigInt, which JSON does not support: convert it to a string or a number");
    if (typeof value !== "object" || value === null) return undefined;
    if (this.#seen.get(value) === "open") return this.#at(path, "contains itself");
    if (this.#seen.has(value) || this.#seen.size >= MOST_VALUES) return undefined;
    if (path.length > MAX_SERIALIZABLE_DEPTH)
      return this.#at(path, `is nested more than ${MAX_SERIALIZABLE_DEPTH} deep`);
    this.#seen.set(value, "open");
    const fault = this.#inside(value, path, usesToJson);
    this.#seen.set(value, "sound");
    return fault;
  }

  #inside(value: object, path: Path, usesToJson: boolean): Unserializable | undefined {
    let keys: Path;
    try {
      const { toJSON } = value as { toJSON?: unknown };
      if (usesToJson && typeof toJSON === "function") return this.#fromToJson(value, path);
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

  #fromToJson(value: object, path: Path): Unserializable | undefined {
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
  const shown = path.slice(0, LONGEST_PATH).map((key) => {
    if (typeof key === "number") return `[${key}]`;
    return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 100))}]`;
  });
  return shown.join("") + (path.length > shown.length ? "..." : "");
}

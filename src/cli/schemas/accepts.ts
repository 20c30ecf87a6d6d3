/** Whether every value of one JSON schema is valid in another. Where that cannot be seen, the answer is no. */
import { isDeepStrictEqual } from "node:util";
import { isRecord, type JsonObject } from "../../models/common.js";
import { alternatives, propertiesOf, requiredOf, type SchemaNode } from "./resolve.js";

/** True when `wide` takes all that `narrow` takes. */
export function accepts(wide: SchemaNode, narrow: SchemaNode): boolean {
  return new Acceptance(wide.root, narrow.root).accepts(wide.schema, narrow.schema);
}

/** Keywords with a rule of their own; any other must be the same on both sides, or absent from the wider one. */
const RULED = new Set([
  "type",
  "const",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "prefixItems",
]);
const LOWER_BOUNDS = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const UPPER_BOUNDS = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];

class Acceptance {
  readonly #wideRoot: JsonObject;
  readonly #narrowRoot: JsonObject;
  /** Pairs being looked at: a recursive type meets itself again, and nothing speaks against it so far. */
  readonly #open = new Set<string>();

  constructor(wideRoot: JsonObject, narrowRoot: JsonObject) {
    this.#wideRoot = wideRoot;
    this.#narrowRoot = narrowRoot;
  }

  accepts(wide: unknown, narrow: unknown): boolean {
    const pair = JSON.stringify([wide, narrow]);
    if (this.#open.has(pair)) return true;
    this.#open.add(pair);
    try {
      const choices = alternatives({ schema: wide, root: this.#wideRoot });
      return alternatives({ schema: narrow, root: this.#narrowRoot }).every((value) =>
        choices.some((choice) => this.#one(choice, value)),
      );
    } finally {
      this.#open.delete(pair);
    }
  }

  #one(wide: JsonObject, narrow: JsonObject): boolean {
    if (Object.keys(wide).length === 0) return true;
    if ("const" in wide) return "const" in narrow && isDeepStrictEqual(wide.const, narrow.const);
    if ("const" in narrow) return typeAccepts(wide.type, typeOfValue(narrow.const));
    return (
      typeAccepts(wide.type, narrow.type) &&
      boundsAccept(wide, narrow) &&
      this.#objects(wide, narrow) &&
      this.#lists(wide, narrow)
    );
  }

  #objects(wide: JsonObject, narrow: JsonObject): boolean {
    const [wideKeys, narrowKeys] = [propertiesOf(wide), propertiesOf(narrow)];
    const required = requiredOf(narrow);
    if (!requiredOf(wide).every((key) => required.includes(key))) return false;
    for (const [key, schema] of Object.entries(wideKeys)) {
      if (Object.hasOwn(narrowKeys, key) && !this.accepts(schema, narrowKeys[key])) return false;
    }
    const rest = wide.additionalProperties;
    if (rest === undefined || rest === true) return true;
    const extra = Object.keys(narrowKeys).filter((key) => !Object.hasOwn(wideKeys, key));
    if (rest === false) return extra.length === 0 && narrow.additionalProperties === false;
    return (
      extra.every((key) => this.accepts(rest, narrowKeys[key])) &&
      (narrow.additionalProperties === false || this.accepts(rest, narrow.additionalProperties ?? {}))
    );
  }

  #lists(wide: JsonObject, narrow: JsonObject): boolean {
    if (!isDeepStrictEqual(wide.prefixItems, narrow.prefixItems) && wide.prefixItems !== undefined)
      return false;
    if (wide.items === undefined) return true;
    return Array.isArray(wide.items) || Array.isArray(narrow.items)
      ? isDeepStrictEqual(wide.items, narrow.items)
      : this.accepts(wide.items, narrow.items ?? {});
  }
}

function typeAccepts(wide: unknown, narrow: unknown): boolean {
  return wide === undefined || wide === narrow || (wide === "number" && narrow === "integer");
}

function typeOfValue(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (Number.isInteger(value)) return "integer";
  return isRecord(value) ? "object" : typeof value;
}

function boundsAccept(wide: JsonObject, narrow: JsonObject): boolean {
  return Object.entries(wide).every(([key, bound]) => {
    if (RULED.has(key)) return true;
    const other = narrow[key];
    if (typeof bound === "number" && typeof other === "number") {
      if (LOWER_BOUNDS.includes(key)) return other >= bound;
      if (UPPER_BOUNDS.includes(key)) return other <= bound;
    }
    return isDeepStrictEqual(bound, other);
  });
}

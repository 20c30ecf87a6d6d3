/**
 * Detects breaking schema changes. Clients send input, config and context: stricter requirements break them. Clients read
 * output: weaker guarantees break them. State is both sent and read.
 */
import { isDeepStrictEqual } from "node:util";
import { isRecord, type JsonObject } from "../../models/common.js";
import {
  alternatives,
  hasNoType,
  isFromChannels,
  isMarkedUnknown,
  propertiesOf,
  requiredOf,
  resolved,
  type SchemaKind,
  type SchemaNode,
} from "./resolve.js";
import { childPath, type UnknownType, unknownTypes } from "./unknown.js";

type ChangeLevel = "breaking" | "compatible";

interface SchemaChange {
  level: ChangeLevel;
  /** Path such as `messages[].content`; empty for the schema itself. */
  path: string;
  message: string;
}

export interface SchemaComparison {
  kind: SchemaKind;
  result: "same" | ChangeLevel;
  changes: SchemaChange[];
  /** Types of the new schema that are unknown and cannot be compared. */
  unknown: UnknownType[];
}

interface Direction {
  given: boolean;
  read: boolean;
}

const DIRECTIONS: Record<SchemaKind, Direction> = {
  input: { given: true, read: false },
  output: { given: false, read: true },
  state: { given: true, read: true },
  config: { given: true, read: false },
  context: { given: true, read: false },
};

/** Compares the committed schema of a kind with the graph's current schema. */
export function compareSchemas(
  kind: SchemaKind,
  before: JsonObject | null,
  after: JsonObject | null,
): SchemaComparison {
  const changes =
    before === null || after === null ? presence(before, after) : new Comparer(kind, before, after).changes();
  const result = changes.some(({ level }) => level === "breaking")
    ? "breaking"
    : changes.length > 0
      ? "compatible"
      : "same";
  return { kind, result, changes, unknown: unknownTypes(after) };
}

function presence(before: JsonObject | null, after: JsonObject | null): SchemaChange[] {
  if (before === after) return [];
  return before === null
    ? [{ level: "compatible", path: "", message: "schema added" }]
    : [{ level: "breaking", path: "", message: "schema removed" }];
}

class Comparer {
  readonly #kind: SchemaKind;
  readonly #direction: Direction;
  readonly #before: JsonObject;
  readonly #after: JsonObject;
  readonly #changes: SchemaChange[] = [];
  readonly #seen = new Set<string>();

  constructor(kind: SchemaKind, before: JsonObject, after: JsonObject) {
    this.#kind = kind;
    this.#direction = DIRECTIONS[kind];
    this.#before = before;
    this.#after = after;
  }

  changes(): SchemaChange[] {
    this.#compare("", this.#before, this.#after);
    return this.#changes;
  }

  #note(isBreaking: boolean, path: string, message: string): void {
    this.#changes.push({ level: isBreaking ? "breaking" : "compatible", path, message });
  }

  #compare(path: string, before: unknown, after: unknown): void {
    const pair = JSON.stringify([before, after]);
    if (this.#seen.has(pair)) return;
    this.#seen.add(pair);
    const [old, now] = [this.#old(before), this.#now(after)];
    if (isObjectType(old) && isObjectType(now)) this.#keys(path, old, now);
    else if (isListType(old) && isListType(now)) this.#compare(`${path}[]`, old.items, now.items);
    else return this.#types(path, before, after);
    // Limits such as minItems.
    this.#types(path, withoutInside(old), withoutInside(now));
  }

  /** True if the types were inferred from channels and are now declared; the accepted values are the same. */
  get #discovers(): boolean {
    return isFromChannels(this.#before) && !isFromChannels(this.#after);
  }

  get #asksMore(): boolean {
    return this.#direction.given && !this.#discovers;
  }

  #keys(path: string, old: JsonObject, now: JsonObject): void {
    const [oldKeys, nowKeys] = [propertiesOf(old), propertiesOf(now)];
    for (const [key, schema] of Object.entries(oldKeys)) {
      const place = childPath(path, key);
      if (!Object.hasOwn(nowKeys, key)) this.#note(true, place, "key removed");
      else {
        this.#requiredness(place, requiredOf(old).includes(key), requiredOf(now).includes(key));
        this.#compare(place, schema, nowKeys[key]);
      }
    }
    for (const key of Object.keys(nowKeys)) {
      if (Object.hasOwn(oldKeys, key)) continue;
      const isRequired = requiredOf(now).includes(key) && this.#asksForKeys(path);
      this.#note(isRequired, childPath(path, key), isRequired ? "required key added" : "key added");
    }
    this.#otherKeys(path, old, now);
  }

  /** State writes are partial: top-level keys are never required. */
  #asksForKeys(path: string): boolean {
    return this.#asksMore && !(this.#kind === "state" && path === "");
  }

  #requiredness(path: string, before: boolean, after: boolean): void {
    if (before === after) return;
    if (after) this.#note(this.#asksForKeys(parentOf(path)), path, "now required");
    else this.#note(this.#direction.read, path, "now optional");
  }

  #otherKeys(path: string, old: JsonObject, now: JsonObject): void {
    const [before, after] = [old.additionalProperties ?? true, now.additionalProperties ?? true];
    if (isRecord(before) && isRecord(after)) this.#compare(`${path || "*"}{}`, before, after);
    else if ((before === false) !== (after === false)) {
      if (after === false) this.#note(this.#asksMore, path, "additional keys no longer allowed");
      else this.#note(false, path, "additional keys now allowed");
    } else if (isRecord(before) !== isRecord(after)) this.#types(`${path || "*"}{}`, before, after);
  }

  #types(path: string, before: unknown, after: unknown): void {
    const old: SchemaNode = { schema: before ?? {}, root: this.#before };
    const now: SchemaNode = { schema: after ?? {}, root: this.#after };
    const [wasWider, isWider] = [accepts(old, now), accepts(now, old)];
    if (wasWider && isWider) return;
    const change = `${describeType(old)} changed to ${describeType(now)}`;
    if (hasNoType(old) && (this.#discovers || isMarkedUnknown(resolved(old))))
      this.#note(false, path, `type is now known: ${describeType(now)}`);
    else if (hasNoType(now) && (isFromChannels(this.#after) || isMarkedUnknown(resolved(now))))
      this.#note(true, path, `type is no longer known; it was ${describeType(old)}`);
    else if (wasWider) this.#note(this.#asksMore, path, `${change} (narrower)`);
    else if (isWider) this.#note(this.#direction.read, path, `${change} (wider)`);
    else this.#note(true, path, change);
  }

  #old(schema: unknown): JsonObject {
    return resolved({ schema: schema ?? {}, root: this.#before });
  }

  #now(schema: unknown): JsonObject {
    return resolved({ schema: schema ?? {}, root: this.#after });
  }
}

const isObjectType = (schema: JsonObject): boolean =>
  schema.type === "object" && schema.allOf === undefined && schema.anyOf === undefined;

const isListType = (schema: JsonObject): boolean =>
  schema.type === "array" && !Array.isArray(schema.items) && schema.prefixItems === undefined;

function withoutInside(schema: JsonObject): JsonObject {
  const { properties: _p, required: _r, additionalProperties: _a, items: _i, ...shell } = schema;
  return shell;
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf(".")));

// Decides whether every value of one JSON schema is valid in another; false if undecidable.

/** Whether `wide` accepts every value that `narrow` accepts. */
function accepts(wide: SchemaNode, narrow: SchemaNode): boolean {
  return new Acceptance(wide.root, narrow.root).accepts(wide.schema, narrow.schema);
}

/** Keywords with their own rule. Others must be equal in both schemas, or absent from the wider one. */
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
  /** Pairs being compared. A recursive type reaches its own pair again, which is assumed to be valid. */
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

const MOST_ALTERNATIVES = 6;

/** Short form of a type: `string`, `number | null`, `"a" | "b"`, `string[]`. */
function describeType(node: SchemaNode): string {
  const names = alternatives(node).map((schema) => {
    if ("const" in schema) return JSON.stringify(schema.const);
    const { type, items } = schema;
    if (type === "array")
      return isRecord(items) ? `${grouped(describeType({ schema: items, root: node.root }))}[]` : "array";
    return typeof type === "string" ? `${type}${boundsOf(schema)}` : "any";
  });
  const shown = [...new Set(names)];
  const more = shown.length > MOST_ALTERNATIVES ? ` | ${shown.length - MOST_ALTERNATIVES} more` : "";
  return shown.slice(0, MOST_ALTERNATIVES).join(" | ") + more;
}

const grouped = (name: string): string => (name.includes(" | ") ? `(${name})` : name);

const BOUNDS = ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "format"];

function boundsOf(schema: Readonly<Record<string, unknown>>): string {
  const bounds = BOUNDS.filter((key) => schema[key] !== undefined).map(
    (key) => `${key} ${JSON.stringify(schema[key])}`,
  );
  return bounds.length > 0 ? ` (${bounds.join(", ")})` : "";
}

/**
 * JSON schemas of what a graph declares with zod or StateSchema. LangGraph derives all keys or none. Here, a type without
 * a JSON form, or a key from another zod version than its object, does not affect the other keys.
 */
import type * as Schemas from "@langchain/langgraph/zod/schema";
import type * as JsonSchemas from "@langchain/core/utils/json_schema";
import { errorMessage } from "../support/errors/thrown.js";
import { isRecord, type JsonObject } from "../models/common.js";
import { UNKNOWN } from "../models/assistant.js";
import type { ServedGraph } from "./graph.js";

/** Schema of a key that holds messages: their TypeScript types do not exist at run time. */
export const MESSAGES_SCHEMA = {
  type: "array",
  items: { type: "object" },
  description: "A list of chat messages",
  langgraph_type: "messages",
} as const;

type SchemaModule = typeof Schemas;
type ToJsonSchema = typeof JsonSchemas.toJsonSchema;
type Registry = NonNullable<Parameters<SchemaModule["getStateTypeSchema"]>[1]>;
export type SchemaGetter = Exclude<keyof SchemaModule, "getUpdateTypeSchema">;

export interface DeclaredSchema {
  /** Undefined if the graph declares none, or none that can be derived. */
  schema?: JsonObject;
  /** Why a declared schema cannot be derived. */
  fault?: string;
}

/** Derives schemas through LangGraph with the graph's own registry, which may belong to another copy of LangGraph. */
export async function declaredSchemas(graph: ServedGraph): Promise<(getter: SchemaGetter) => DeclaredSchema> {
  const modules = await Promise.all([
    import("@langchain/langgraph/zod/schema"),
    import("@langchain/core/utils/json_schema"),
  ]).catch(() => undefined);
  if (!modules) return () => ({});
  const [langgraph, { toJsonSchema }] = modules;
  const { _metaRegistry: registry } = graph as { _metaRegistry?: Registry };
  const tolerant = registry && keyByKey(registry, toJsonSchema);
  return (getter) => {
    try {
      const found: unknown = langgraph[getter](graph, tolerant);
      if (!isRecord(found)) return {};
      return { schema: plain(withLostKeys(found, fieldsOf(graph, getter), getter, toJsonSchema)) };
    } catch (error) {
      return { fault: `its declaration cannot be converted to JSON schema: ${errorMessage(error)}` };
    }
  };
}

/** Removes zod's hidden properties of a schema, which would cause it to be derived again. */
const plain = (schema: unknown): JsonObject => JSON.parse(JSON.stringify(schema)) as JsonObject;

type Effects = Parameters<Registry["getExtendedChannelSchemas"]>[1];

/** Wraps the registry of a graph to return JSON schemas instead of zod objects to LangGraph. */
function keyByKey(registry: Registry, toJsonSchema: ToJsonSchema): Registry {
  const derive = (object: ZodObject, effects: Effects): JsonObject => {
    const extended = registry.getExtendedChannelSchemas(object as never, effects);
    return jsonOf(extended, toJsonSchema);
  };
  const getExtendedChannelSchemas = (object: ZodObject, effects: Effects): JsonObject => {
    try {
      return derive(object, effects);
    } catch {
      const { rest, apart } = takenApart(object, registry, toJsonSchema);
      const schema = derive(rest, effects);
      const properties = apart.map(([key, field]) => [
        key,
        keySchema(field, registry.get(field as never), effects, toJsonSchema),
      ]);
      // Keep the order of the declaration.
      const known = {
        ...(schema.properties as JsonObject),
        ...(Object.fromEntries(properties) as JsonObject),
      };
      const order = Object.keys(shapeOf(object));
      return { ...schema, properties: Object.fromEntries(order.map((key) => [key, known[key]])) };
    }
  };
  return { getExtendedChannelSchemas } as unknown as Registry;
}

interface KeyMeta {
  jsonSchemaExtra?: JsonObject;
  reducer?: { schema?: unknown };
}

/** The schema of one key that cannot be derived together with its object. */
function keySchema(
  field: unknown,
  meta: KeyMeta | undefined,
  effects: Effects,
  toJsonSchema: ToJsonSchema,
): JsonObject {
  const extra = meta?.jsonSchemaExtra;
  if (extra?.langgraph_type === "messages") return { ...MESSAGES_SCHEMA, ...extra };
  const chosen = effects.withReducerSchema ? (meta?.reducer?.schema ?? field) : field;
  return { ...schemaOrUnknown(chosen, toJsonSchema), ...extra };
}

function schemaOrUnknown(field: unknown, toJsonSchema: ToJsonSchema): JsonObject {
  try {
    const { $schema: _, ...schema } = jsonOf(field, toJsonSchema);
    return schema;
  } catch (error) {
    return { [UNKNOWN]: errorMessage(error) };
  }
}

// Access to zod's internals, for versions 3 and 4.

interface Zod3 {
  _def: JsonObject & { typeName?: string };
}
interface Zod4 {
  _zod: {
    def: JsonObject & { type: string };
    constr: new (def: JsonObject) => ZodObject;
    bag?: { Class?: { name?: string } };
  };
}
type ZodObject = Zod3 | Zod4;

const isZod4 = (schema: unknown): schema is Zod4 => isRecord(schema) && isRecord(schema._zod);
const isZod3 = (schema: unknown): schema is Zod3 =>
  isRecord(schema) && !isZod4(schema) && isRecord(schema._def);

function shapeOf(object: ZodObject): JsonObject {
  if (isZod4(object)) return object._zod.def.shape as JsonObject;
  return (object._def.shape as () => JsonObject)();
}

interface TakenApart {
  /** The object with the keys that can be derived together. Refinements are removed: they have no JSON form. */
  rest: ZodObject;
  apart: [key: string, field: unknown][];
}

/** Cache: LangGraph's registry keeps every object it has seen, so the same object must be reused. */
const knownParts = new WeakMap<ZodObject, TakenApart>();

function takenApart(object: ZodObject, registry: Registry, toJsonSchema: ToJsonSchema): TakenApart {
  const known = knownParts.get(object);
  if (known) return known;
  const fits = (field: unknown): boolean => {
    const reduced = (registry.get(field as never) as KeyMeta | undefined)?.reducer?.schema ?? field;
    return [field, reduced].every(
      (each) => isZod4(each) === isZod4(object) && isDerivable(each, toJsonSchema),
    );
  };
  const entries = Object.entries(shapeOf(object));
  const fitting = Object.fromEntries(entries.filter(([, field]) => fits(field)));
  const parts = {
    rest: withShape(object, fitting),
    apart: entries.filter(([key]) => !Object.hasOwn(fitting, key)),
  };
  knownParts.set(object, parts);
  return parts;
}

function isDerivable(field: unknown, toJsonSchema: ToJsonSchema): boolean {
  try {
    jsonOf(field, toJsonSchema);
    return true;
  } catch {
    return false;
  }
}

function withShape(object: ZodObject, shape: JsonObject): ZodObject {
  if (isZod4(object)) return new object._zod.constr({ ...object._zod.def, shape, checks: [] });
  const Zod3Object = object.constructor as new (def: JsonObject) => Zod3;
  return new Zod3Object({ ...object._def, shape: () => shape });
}

/** @throws zod's error for a type that it cannot represent even with `unrepresentable: "any"` */
function jsonOf(schema: unknown, toJsonSchema: ToJsonSchema): JsonObject {
  if (!isZod4(schema)) {
    const json = plain(toJsonSchema(schema as never));
    return isZod3(schema) ? marked(json, schema) : json;
  }
  const options = { unrepresentable: "any", override: markUnknown };
  return plain(toJsonSchema(schema as never, options as never));
}

/** Types for which zod 4 has no JSON schema. */
const WITHOUT_JSON = new Set(
  "bigint symbol undefined void date custom function transform nan map set literal".split(" "),
);

function markUnknown({ zodSchema, jsonSchema }: { zodSchema: unknown; jsonSchema: JsonObject }): void {
  if (!isZod4(zodSchema)) return;
  const { def, bag } = zodSchema._zod;
  if (!WITHOUT_JSON.has(def.type) || Object.keys(jsonSchema).some((word) => !WORDS_ONLY.has(word))) return;
  const checked = bag?.Class?.name;
  jsonSchema[UNKNOWN] = checked === undefined ? `z.${def.type}()` : `z.instanceof(${checked})`;
}

const WORDS_ONLY = new Set(["title", "description", "default", "examples", "id"]);

/** Marks types without a JSON schema in zod 3, which omits them or allows any value. */
function marked(json: JsonObject, schema: unknown): JsonObject {
  const inner = unwrapped(schema);
  const { typeName } = inner._def;
  if (typeName === "ZodObject") {
    const keys = Object.entries(shapeOf(inner));
    const known = isRecord(json.properties) ? json.properties : {};
    const properties = keys.map(([key, field]) => [key, marked(recordOf(known[key]), field)]);
    return { ...json, properties: Object.fromEntries(properties) as JsonObject };
  }
  if (typeName === "ZodArray" && isRecord(json.items))
    return { ...json, items: marked(json.items, inner._def.type) };
  const saysNothing = Object.keys(json).every((word) => WORDS_ONLY.has(word));
  if (!saysNothing || typeName === "ZodAny" || typeName === "ZodUnknown") return json;
  const name = typeName === "ZodEffects" ? "custom" : (typeName ?? "").replace(/^Zod/, "").toLowerCase();
  return { ...json, [UNKNOWN]: `z.${name}()` };
}

function unwrapped(schema: unknown): Zod3 {
  let current = schema as Zod3;
  while (isZod3(current._def.innerType)) current = current._def.innerType;
  return current;
}

const recordOf = (value: unknown): JsonObject => (isRecord(value) ? value : {});

// Adds the keys that a StateSchema omits because it cannot derive their types.

const DEFINITIONS: Partial<Record<SchemaGetter, readonly string[]>> = {
  getStateTypeSchema: ["_schemaRuntimeDefinition"],
  getInputTypeSchema: ["_inputRuntimeDefinition", "_schemaRuntimeDefinition"],
  getOutputTypeSchema: ["_outputRuntimeDefinition"],
};

/** The fields of the StateSchema that declares a schema; empty if it was declared in another way. */
function fieldsOf({ builder }: ServedGraph, getter: SchemaGetter): JsonObject {
  if (!isRecord(builder)) return {};
  // If the input's definition is a symbol, the input uses the definition of the state.
  const found = DEFINITIONS[getter]?.map((name) => builder[name]).find(isRecord);
  return recordOf(found?.fields);
}

function withLostKeys(
  schema: JsonObject,
  fields: JsonObject,
  getter: SchemaGetter,
  toJsonSchema: ToJsonSchema,
): JsonObject {
  const known = recordOf(schema.properties);
  const found = Object.entries(fields).flatMap(([key, field]) => {
    if (Object.hasOwn(known, key)) return [[key, known[key]]];
    const declared = schemaOfField(field, getter);
    return declared === undefined ? [] : [[key, schemaOrUnknown(declared, toJsonSchema)]];
  });
  return found.length === 0 ? schema : { ...schema, properties: Object.fromEntries(found) as JsonObject };
}

/** Undefined for fields that are not part of the values, such as the number of remaining steps. */
function schemaOfField(field: unknown, getter: SchemaGetter): unknown {
  const { valueSchema, inputSchema, schema } = recordOf(field);
  const chosen = getter === "getInputTypeSchema" ? (inputSchema ?? valueSchema) : valueSchema;
  const declared = chosen ?? schema ?? field;
  return isRecord(declared) && "~standard" in declared ? declared : undefined;
}

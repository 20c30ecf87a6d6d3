/** Query strings: text to the types that a schema names. Only here is anything coerced. */
import type { TObject, TSchema } from "@sinclair/typebox";
import { InvalidRequestError } from "../errors.js";
import { validate } from "./validate.js";

const BOOLEANS = new Map([
  ["true", true],
  ["1", true],
  ["yes", true],
  ["false", false],
  ["0", false],
  ["no", false],
]);

/**
 * The query values that `schema` names, coerced and validated.
 * @throws InvalidRequestError when one does not fit, or is given twice
 */
export async function readQuery(schema: TObject, raw: Record<string, unknown>): Promise<unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.properties)) {
    const text = raw[name];
    if (text === undefined) continue;
    if (isList(field)) values[name] = [text].flat();
    else if (typeof text === "string") values[name] = coerce(text, kindsOf(field));
    else throw InvalidRequestError.at(["query", name], "is given more than once", "repeated");
  }
  await validate(schema, values, "query");
  return values;
}

const isList = (schema: TSchema) => schema.type === "array";

/** Text that fits none of the kinds stays text, and validation names the fault. */
function coerce(text: string, kinds: readonly string[]): unknown {
  if (kinds.includes("integer") && /^[+-]?\d{1,15}$/.test(text)) return Number(text);
  if (kinds.includes("boolean")) return BOOLEANS.get(text.toLowerCase()) ?? text;
  return text;
}

function kindsOf(schema: TSchema): string[] {
  const { type, anyOf } = schema as { type?: string; anyOf?: TSchema[] };
  return anyOf ? anyOf.flatMap(kindsOf) : type ? [type] : [];
}

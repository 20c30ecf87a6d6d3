/** Query strings: converts text to the types of a schema. Only query values are coerced. */
import type { TObject, TSchema } from "@sinclair/typebox";
import { InvalidRequestError } from "../../support/errors.js";
import { validatePayload } from "./validation.js";

const BOOLEANS = new Map([
  ["true", true],
  ["1", true],
  ["yes", true],
  ["false", false],
  ["0", false],
  ["no", false],
]);

/**
 * The query values named in `schema`, coerced and validated. An empty value counts as absent,
 * because some clients send unset values this way.
 * @throws InvalidRequestError if a value is invalid or repeated
 */
export async function readQuery(schema: TObject, raw: Record<string, unknown>): Promise<unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.properties)) {
    const given = [raw[name] ?? []].flat().filter((text) => text !== "");
    const [text] = given;
    if (text === undefined) continue;
    if (isList(field)) values[name] = given;
    else if (given.length === 1 && typeof text === "string") values[name] = coerce(text, kindsOf(field));
    else throw InvalidRequestError.at(["query", name], "must not be repeated", "repeated");
  }
  await validatePayload(schema, values, "query");
  return values;
}

const isList = (schema: TSchema) => schema.type === "array";

/** Text that matches no type stays text; validation reports it. */
function coerce(text: string, kinds: readonly string[]): unknown {
  if (kinds.includes("integer") && /^[+-]?\d{1,15}$/.test(text)) return Number(text);
  if (kinds.includes("boolean")) return BOOLEANS.get(text.toLowerCase()) ?? text;
  return text;
}

function kindsOf(schema: TSchema): string[] {
  const { type, anyOf } = schema as { type?: string; anyOf?: TSchema[] };
  return anyOf ? anyOf.flatMap(kindsOf) : type ? [type] : [];
}

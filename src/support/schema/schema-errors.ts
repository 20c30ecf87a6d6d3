/** The errors of a JSON schema, in the words of every place that validates a file or a stored value. */
import type { ErrorObject } from "ajv";
import { didYouMean } from "../nearest.js";

const VALUE_CHARACTERS = 60;

/** The keys on a JSON pointer; array indices stay text. */
export const pointerKeys = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

/** A path as in JavaScript, such as `cart.items[0].price`. */
export const pathText = (path: readonly (string | number)[]): string =>
  path
    .map((part, index) => (/^\d+$/.test(String(part)) ? `[${part}]` : `${index > 0 ? "." : ""}${part}`))
    .join("");

/** Without the errors of the branches of a union: the error of the union itself describes all branches. */
export function withoutBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  const isUnion = ({ keyword }: ErrorObject) => keyword === "anyOf" || keyword === "oneOf";
  const unions = errors.filter(isUnion).map(({ instancePath }) => instancePath);
  const isInside = ({ instancePath: path }: ErrorObject) =>
    unions.some((union) => path === union || path.startsWith(`${union}/`));
  return errors.filter((error) => isUnion(error) || !isInside(error));
}

/** What the schema requires of a value: "must be an integer". */
export function requirement({ keyword, params, message }: ErrorObject): string {
  const { allowedValues, type } = params as { allowedValues?: unknown[]; type?: string };
  if (allowedValues) return `must be one of ${allowedValues.join(", ")}`;
  if (keyword === "type" && type !== undefined) return `must be ${/^[aio]/.test(type) ? "an" : "a"} ${type}`;
  return message ?? "is not valid";
}

/** The key that a schema does not have, and a hint: a similar key, `otherwise`, or the keys that it has. */
export function unknownKeyOf(
  { params, parentSchema }: ErrorObject,
  otherwise?: string,
): { key: string; hint: string } {
  const { additionalProperty: key } = params as { additionalProperty: string };
  const known = Object.keys((parentSchema as { properties?: object }).properties ?? {});
  return { key, hint: didYouMean(key, known) ?? otherwise ?? `known keys: ${known.join(", ")}` };
}

/** A value for a message, cut off if long. */
export function shownValue(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value);
  return json.length > VALUE_CHARACTERS ? `${json.slice(0, VALUE_CHARACTERS - 3)}...` : json;
}

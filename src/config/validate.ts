/** Validates settings against the schema and words the errors. */
import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import type { Issue } from "../support/errors.js";
import type { SettingPath } from "./document.js";
import { didYouMean } from "../support/nearest.js";
import { WEBHOOKS_HINT } from "../support/webhook-hint.js";
import { PROCESSES_HINT } from "./process-settings.js";
import { isSurelyValid } from "./surely-valid.js";
import { SettingsSchema, type SettingsInput } from "./settings.js";

/** One error in the settings: where, what, and how to fix it. */
export interface SettingError {
  path: SettingPath;
  message: string;
  hint?: string;
}

let ajv: Ajv | undefined;

async function schemaValidator(): Promise<Ajv> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  return (ajv ??= new Ajv2020({
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    // The schema is type-checked at compile time; validating it takes longer than validating the
    // settings.
    validateSchema: false,
  }));
}

/**
 * Schema with the given settings only. Compiling the whole schema takes longer than the rest of a
 * short command.
 */
function schemaOf(names: readonly string[]) {
  const given = Object.entries(SettingsSchema.properties).filter(([name]) => names.includes(name));
  return { ...SettingsSchema, properties: Object.fromEntries(given) };
}

const validators = new Map<string, ValidateFunction<SettingsInput>>();

/** Compiled once per set of names; reloads mostly use the same set. */
async function validatorOf(names: readonly string[]): Promise<ValidateFunction<SettingsInput>> {
  const known = names.filter((name) => name in SettingsSchema.properties).sort();
  const key = known.join();
  const compiled = validators.get(key) ?? (await schemaValidator()).compile<SettingsInput>(schemaOf(known));
  validators.set(key, compiled);
  return compiled;
}

/** All errors in `values`, one per path. */
export async function settingErrors(values: object): Promise<SettingError[]> {
  const names = Object.keys(values);
  if (isSurelyValid(SettingsSchema, values)) return [];
  const validate = await validatorOf(names);
  if (validate(values)) return [];
  const errors = validate.errors ?? [];
  const unions = errors.filter((error) => error.keyword === "anyOf").map((error) => error.instancePath);
  return errors
    .filter(
      (error) => error.keyword === "anyOf" || !unions.some((path) => isInside(error.instancePath, path)),
    )
    .map(toSettingError);
}

/** Converts the errors to the issues of an error response. */
export function issuesOf(errors: readonly SettingError[]): Issue[] {
  return errors.map(({ path, message }) => ({ loc: [...path], msg: message, type: "config_invalid" }));
}

function isInside(path: string, parent: string): boolean {
  return path === parent || path.startsWith(`${parent}/`);
}

/** How to fix settings whose requirement alone does not say it. */
const HINTS: Readonly<Record<string, string>> = {
  webhooks: WEBHOOKS_HINT,
  "webhooks.secret": WEBHOOKS_HINT,
  processes: PROCESSES_HINT,
};

function toSettingError(error: ErrorObject): SettingError {
  const path = pointerPath(error.instancePath);
  if (error.keyword === "additionalProperties") return unknownKey(error, path);
  const name = path.length > 0 ? path.join(".") : "the configuration";
  const isSecret = path[0] === "api_keys" || path[0] === "metrics_key";
  const found = isSecret ? "" : `, it is ${shown(error.data)}`;
  const hint = HINTS[name];
  return {
    path,
    message: `${name} ${requirement(error, path)}${found}`,
    ...(hint !== undefined && { hint }),
  };
}

function unknownKey(error: ErrorObject, path: SettingPath): SettingError {
  const key = (error.params as { additionalProperty: string }).additionalProperty;
  const parent = path.length > 0 ? (error.parentSchema as { properties?: object }) : SettingsSchema;
  const known = Object.keys(parent.properties ?? {});
  return {
    path: [...path, key],
    message: path.length > 0 ? `unknown key "${key}" in ${path.join(".")}` : `unknown setting "${key}"`,
    hint: didYouMean(key, known) ?? `known keys: ${known.join(", ")}`,
  };
}

function requirement(error: ErrorObject, path: SettingPath): string {
  if (error.keyword === "anyOf" && path[0] === "graphs")
    return 'must be "path:export" or {"path": "path:export"}';
  if (error.keyword === "anyOf" && path[0] === "env")
    return "must be the path of an env file, or an object of strings";
  if (error.keyword === "anyOf" && path[0] === "api_keys")
    return "must be a key of at least 8 printable characters without spaces, or {name, key}";
  if (error.keyword === "enum") {
    return `must be one of ${(error.params as { allowedValues: unknown[] }).allowedValues.join(", ")}`;
  }
  if (path[0] === "metrics_key" && error.keyword !== "type")
    return "must be at least 8 printable characters without spaces";
  const article =
    { integer: "an", object: "an", array: "an" }[String((error.params as { type?: string }).type)] ?? "a";
  if (error.keyword === "type") return `must be ${article} ${(error.params as { type: string }).type}`;
  return error.message ?? "is not valid";
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function pointerPath(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Validates settings against the schema and words the errors. */
import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import type { Issue } from "../support/errors/codes.js";
import type { SettingPath } from "./document.js";
import {
  pointerKeys,
  requirement,
  shownValue,
  unknownKeyOf,
  withoutBranches,
} from "../support/schema/schema-errors.js";
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
  return withoutBranches(validate.errors ?? []).map(toSettingError);
}

/** Converts the errors to the issues of an error response. */
export function issuesOf(errors: readonly SettingError[]): Issue[] {
  return errors.map(({ path, message }) => ({ loc: [...path], msg: message, type: "config_invalid" }));
}

/** How to fix settings whose requirement alone does not say it. */
const HINTS: Readonly<Record<string, string>> = {
  webhooks: WEBHOOKS_HINT,
  "webhooks.secret": WEBHOOKS_HINT,
  processes: PROCESSES_HINT,
};

function toSettingError(error: ErrorObject): SettingError {
  const path = pointerKeys(error.instancePath);
  if (error.keyword === "additionalProperties") return unknownKey(error, path);
  const name = path.length > 0 ? path.join(".") : "the configuration";
  const isSecret = path[0] === "api_keys" || path[0] === "metrics_key";
  const found = isSecret ? "" : `, it is ${shownValue(error.data)}`;
  const hint = HINTS[name];
  return {
    path,
    message: `${name} ${settingRequirement(error, path)}${found}`,
    ...(hint !== undefined && { hint }),
  };
}

function unknownKey(error: ErrorObject, path: SettingPath): SettingError {
  if (path.length > 0) {
    const { key, hint } = unknownKeyOf(error);
    return { path: [...path, key], message: `unknown key "${key}" in ${path.join(".")}`, hint };
  }
  // The validated schema has the given settings only.
  const full = { ...error, parentSchema: SettingsSchema };
  const { key, hint } = unknownKeyOf(full, "graph-serve config schema prints all settings");
  return { path: [key], message: `unknown setting "${key}"`, hint };
}

/** Requirements that the schema states less clearly. */
function settingRequirement(error: ErrorObject, [name]: SettingPath): string {
  if (error.keyword === "anyOf" && name === "graphs")
    return 'must be "path:export" or {"path": "path:export"}';
  if (error.keyword === "anyOf" && name === "env")
    return "must be the path of an env file, or an object of strings";
  if (error.keyword === "anyOf" && name === "api_keys")
    return "must be a key of at least 8 printable characters without spaces, or {name, key}";
  if (name === "metrics_key" && error.keyword !== "type")
    return "must be at least 8 printable characters without spaces";
  return requirement(error);
}

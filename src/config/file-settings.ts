import { resolve } from "node:path";
import { ConfigError } from "../support/errors.js";
import { parseModuleTarget } from "../support/module-target.js";
import {
  expandVariables,
  hasReference,
  type MissingVariable,
  parseSettingText,
  SETTING_NAMES,
  type Variables,
} from "./environment.js";
import { findConfig, isLangGraphJson, readConfig } from "./find.js";
import type { ConfigDocument, SettingPath } from "./document.js";
import { isFields, unknownFields } from "./langgraph-fields.js";
import { corsFields, ttlSetting } from "./langgraph-settings.js";
import type { ROUTE_GROUPS, SettingName } from "./settings.js";
import { issuesOf, settingErrors } from "./validate.js";

/** Content of the configuration file before overrides. */
interface FileSettings {
  values: Record<string, unknown>;
  document?: ConfigDocument;
  warnings: string[];
  pathOf: (path: SettingPath) => SettingPath;
}

export async function readFileSettings(cwd: string, file?: string): Promise<FileSettings> {
  const document = file === undefined ? await findConfig(cwd) : await readConfig(resolve(cwd, file));
  const samePath = (path: SettingPath): SettingPath => path;
  if (!document) return { values: {}, warnings: [], pathOf: samePath };
  if (document.value === undefined || document.value === null) {
    return { values: {}, document, warnings: [], pathOf: samePath };
  }
  if (typeof document.value !== "object" || Array.isArray(document.value)) {
    throw new ConfigError("a configuration must be an object of settings", { location: document.locate([]) });
  }
  if (isLangGraphJson(document.file)) {
    const { settings, warnings, pathOf } = readLangGraphJson(document);
    return { values: settings, document, warnings, pathOf };
  }
  const { $schema: _schema, ...values } = document.value as Record<string, unknown>;
  return { values, document, warnings: [], pathOf: samePath };
}

/**
 * Settings of the file with variables expanded.
 * @throws ConfigError with the line of the first error (`config_invalid`)
 */
export async function settingsOfFile(
  source: FileSettings,
  variables: Variables,
): Promise<Record<string, unknown>> {
  const { document, pathOf } = source;
  if (!document) return {};
  const { env, ...rest } = source.values;
  const literal = isLangGraphJson(document.file);
  const expanded = literal ? { value: rest, missing: [] } : expandVariables(rest, variables);
  for (const missing of expanded.missing) throw missingVariable(missing, document, pathOf);
  const values = Object.entries(expanded.value as Record<string, unknown>).map(([name, value]) => {
    const wasText = !literal && hasReference(rest[name]) && SETTING_NAMES.some((known) => known === name);
    return [name, wasText ? parseSettingText(name as SettingName, value as string) : value] as const;
  });
  const settings = { ...Object.fromEntries(values), ...(env !== undefined && { env }) };
  const errors = await settingErrors(settings);
  const [first] = errors;
  if (first) {
    const location = document.locate(pathOf(first.path));
    throw new ConfigError(first.message, { hint: first.hint, location, issues: issuesOf(errors) });
  }
  return settings;
}

function missingVariable(
  { name, path }: MissingVariable,
  document: ConfigDocument,
  pathOf: FileSettings["pathOf"],
): ConfigError {
  return new ConfigError(`environment variable ${name} is not set, ${path.join(".")} needs it`, {
    hint: `set ${name} in the environment or in the env file, or write \${${name}:-default}`,
    location: document.locate(pathOf(path)),
  });
}

/** Location of a setting as `file:line`. */
export function locateText({ document, pathOf }: FileSettings, name: SettingName): string | undefined {
  const location = document?.locate(pathOf([name]));
  return location && (location.line === undefined ? location.file : `${location.file}:${location.line}`);
}

const DISABLED_ROUTES: Record<string, (typeof ROUTE_GROUPS)[number]> = {
  disable_assistants: "assistants",
  disable_threads: "threads",
  disable_runs: "runs",
  disable_store: "store",
  disable_meta: "meta",
};

interface LangGraphProject {
  settings: Record<string, unknown>;
  warnings: string[];
  /** Path in langgraph.json that a setting comes from. */
  pathOf: (path: SettingPath) => SettingPath;
}

/** @throws ConfigError for a field that cannot be read (`config_invalid`) */
function readLangGraphJson(document: ConfigDocument): LangGraphProject {
  const fields = (document.value ?? {}) as Record<string, unknown>;
  const settings: Record<string, unknown> = {};
  const origins = new Map<string, SettingPath>();
  const take = (name: string, value: unknown, path: SettingPath) => {
    if (value === undefined) return;
    settings[name] = value;
    origins.set(name, path);
  };
  take("graphs", fields.graphs, ["graphs"]);
  take("env", fields.env, ["env"]);
  take("auth", authTarget(fields.auth), ["auth", "path"]);
  const http = objectAt(document, ["http"], fields.http);
  take("http_app", http.app, ["http", "app"]);
  take("mount_prefix", mountPrefix(http.mount_prefix), ["http", "mount_prefix"]);
  take("configurable_headers", headerPatterns(http.configurable_headers), ["http", "configurable_headers"]);
  take("disabled_routes", disabledRoutes(document, http), ["http"]);
  const ttl = ttlSetting({
    checkpointer: ttlOf(document, "checkpointer", fields.checkpointer),
    store: ttlOf(document, "store", fields.store),
  });
  take("ttl", ttl?.value, ["checkpointer", "ttl"]);
  take("store_index", storeIndex(document, fields.store), ["store", "index"]);
  const unknown = unknownFields(fields);
  for (const { key, setting, value } of corsFields(objectAt(document, ["http", "cors"], http.cors))) {
    const path = ["http", "cors", key];
    if (setting === undefined) unknown.push(path);
    else take(setting, value, path);
  }
  return {
    settings,
    warnings: unknown.map((path) => unknownField(document, path)),
    pathOf: ([name, ...rest]) =>
      (name === "ttl" ? ttl?.paths.get(rest.join(".")) : undefined) ?? [
        ...(origins.get(String(name)) ?? [String(name)]),
        ...rest,
      ],
  };
}

/** The field `ttl` of `checkpointer` or `store`. */
const ttlOf = (document: ConfigDocument, key: string, parent: unknown): Record<string, unknown> =>
  objectAt(document, [key, "ttl"], isFields(parent) ? parent.ttl : undefined);

/** `store.index`; in LangGraph, null is the default of a field. */
function storeIndex(document: ConfigDocument, store: unknown): Record<string, unknown> | undefined {
  if (!isFields(store) || store.index == null) return undefined;
  const index = objectAt(document, ["store", "index"], store.index);
  return Object.fromEntries(Object.entries(index).filter(([, value]) => value !== null));
}

/** `auth.path`; without an export, LangGraph reads the default export. */
function authTarget(auth: unknown): unknown {
  const path = isFields(auth) ? auth.path : undefined;
  if (typeof path !== "string" || parseModuleTarget(path).exportName !== undefined) return path;
  return `${path}:default`;
}

/** LangGraph's server accepts a final slash, and ignores `/` and an empty prefix. */
const mountPrefix = (prefix: unknown): unknown =>
  typeof prefix === "string" ? prefix.replace(/\/$/, "") || undefined : (prefix ?? undefined);

/** LangGraph's server also accepts `include` and `exclude`. */
function headerPatterns(patterns: unknown): unknown {
  if (!isFields(patterns)) return patterns ?? undefined;
  const { include, exclude, includes = include, excludes = exclude, ...others } = patterns;
  return { ...others, ...(includes != null && { includes }), ...(excludes != null && { excludes }) };
}

/** Rejects values that are not booleans: a misspelled `true` must not leave a route group enabled. */
function disabledRoutes(document: ConfigDocument, http: Record<string, unknown>): string[] | undefined {
  const disabled: string[] = [];
  for (const [key, group] of Object.entries(DISABLED_ROUTES)) {
    const value = http[key] ?? false;
    if (typeof value !== "boolean") throw mustBe(document, ["http", key], "true or false");
    if (value) disabled.push(group);
  }
  return disabled.length > 0 ? disabled : undefined;
}

function objectAt(document: ConfigDocument, path: SettingPath, value: unknown): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  if (isFields(value)) return value;
  throw mustBe(document, path, "an object");
}

function mustBe(document: ConfigDocument, path: SettingPath, what: string): ConfigError {
  return new ConfigError(`${path.join(".")} must be ${what}`, { location: document.locate(path) });
}

function unknownField(document: ConfigDocument, path: SettingPath): string {
  const { file, line } = document.locate(path);
  return `${file}:${line ?? 1}: key "${path.join(".")}" is unknown and ignored`;
}

/** The part of the settings that a configuration file gives. */
import { resolve } from "node:path";
import { ConfigError } from "../errors.js";
import type { ConfigDocument, SettingPath } from "./document.js";
import { SETTING_NAMES } from "./environment.js";
import { expandVariables, hasReference, type MissingVariable, type Variables } from "./expand.js";
import { findConfig, isLangGraphJson, readConfig } from "./find.js";
import { readLangGraphJson } from "./langgraph-json.js";
import { parseSettingText } from "./parse-text.js";
import type { SettingName } from "./settings.js";
import { issuesOf, settingFaults } from "./validate.js";

/** What the configuration file says, before anything overrides it. */
export interface FileSettings {
  values: Record<string, unknown>;
  document?: ConfigDocument;
  warnings: string[];
  /** Where in the file a setting stands. */
  pathOf: (path: SettingPath) => SettingPath;
}

/** Read the file that was named, or the nearest one. */
export async function readFileSettings(cwd: string, file?: string): Promise<FileSettings> {
  const document = file === undefined ? await findConfig(cwd) : await readConfig(resolve(cwd, file));
  const asItStands = (path: SettingPath): SettingPath => path;
  if (!document) return { values: {}, warnings: [], pathOf: asItStands };
  if (document.value === undefined || document.value === null) {
    return { values: {}, document, warnings: [], pathOf: asItStands };
  }
  if (typeof document.value !== "object" || Array.isArray(document.value)) {
    throw new ConfigError("a configuration must be an object of settings", { location: document.locate([]) });
  }
  if (isLangGraphJson(document.file)) {
    const { settings, warnings, pathOf } = readLangGraphJson(document);
    return { values: settings, document, warnings, pathOf };
  }
  const { $schema: _schema, ...values } = document.value as Record<string, unknown>;
  return { values, document, warnings: [], pathOf: asItStands };
}

/**
 * The file's settings with variables put in.
 * @throws ConfigError with the line of the first fault (`config_invalid`)
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
  const faults = await settingFaults(settings);
  const [first] = faults;
  if (first) {
    const location = document.locate(pathOf(first.path));
    throw new ConfigError(first.message, { hint: first.hint, location, issues: issuesOf(faults) });
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

/** `file:line` of a setting. */
export function locateText({ document, pathOf }: FileSettings, name: SettingName): string | undefined {
  const place = document?.locate(pathOf([name]));
  return place && (place.line === undefined ? place.file : `${place.file}:${place.line}`);
}

/** Reads settings from environment variables and env files. */
import { existsSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { parseEnv } from "node:util";
import type { TSchema } from "@sinclair/typebox";
import { ConfigError } from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";
import { nearest } from "../support/nearest.js";
import { readIfExists } from "../support/read-text.js";
import { CLIENT_KEY_VARIABLE } from "../support/secrets.js";
import type { ConfigDocument, SettingPath } from "./document.js";
import { type SettingName, type SettingsInput, SettingsSchema } from "./settings.js";

const PREFIX = "GRAPH_SERVE_";

export function variableName(name: SettingName): string {
  return PREFIX + name.toUpperCase();
}

const FLAGS: Partial<Record<SettingName, string>> = {
  allowed_hosts: "--allow-host",
  cors_origins: "--cors-origin",
  run_timeout_seconds: "--run-timeout",
  shutdown_grace_seconds: "--shutdown-grace",
};

export function flagName(name: SettingName): string {
  return FLAGS[name] ?? `--${name.replaceAll("_", "-")}`;
}

export const SETTING_NAMES = Object.keys(SettingsSchema.properties) as SettingName[];

/** Settings from environment variables, parsed by type. An empty variable counts as not set. */
export function settingsFromEnvironment(env: Variables): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const name of SETTING_NAMES) {
    const text = env[variableName(name)];
    if (text) values[name] = parseSettingText(name, text);
  }
  return values;
}

/** Warnings for variables whose name resembles the variable of a setting. */
function misspelledVariables(env: Variables): string[] {
  const known = SETTING_NAMES.map(variableName);
  const isKnown = (variable: string) => known.includes(variable) || variable === CLIENT_KEY_VARIABLE;
  return Object.keys(env).flatMap((variable) => {
    if (!variable.startsWith(PREFIX) || isKnown(variable)) return [];
    const similar = nearest(
      variable.slice(PREFIX.length),
      known.map((name) => name.slice(PREFIX.length)),
    );
    return similar === undefined ? [] : [`${variable} is not a setting; did you mean ${PREFIX}${similar}?`];
  });
}

/** Warnings for variables of LangGraph's own server that have no effect here. */
const unreadVariables = ({ LANGGRAPH_CONFIG }: Variables): string[] =>
  LANGGRAPH_CONFIG
    ? [
        "LANGGRAPH_CONFIG is not read: send `config` and `context` with each run, or bind them to the graph with `graph.withConfig()`",
      ]
    : [];

export const variableWarnings = (env: Variables): string[] => [
  ...misspelledVariables(env),
  ...unreadVariables(env),
];

/**
 * Variables of an env file; undefined if the file does not exist, or if it is a folder that nothing names: virtual
 * environments of Python are often folders with the usual name.
 * @throws ConfigError if it cannot be read (`config_invalid`)
 */
async function readEnvFile(file: string, isNamed: boolean): Promise<Record<string, string> | undefined> {
  try {
    const text = await readIfExists(file);
    return text === undefined ? undefined : (parseEnv(text) as Record<string, string>);
  } catch (error) {
    if (!isNamed && (error as NodeJS.ErrnoException).code === "EISDIR") return undefined;
    throw new ConfigError(`env file ${file} cannot be read: ${errorMessage(error)}`, {
      hint: "make it readable, or name another file with --env",
      cause: error,
    });
  }
}

export type Variables = Readonly<Record<string, string | undefined>>;

/** A variable that is not set, and the path of the value that refers to it. */
export interface MissingVariable {
  name: string;
  path: SettingPath;
}

const REFERENCE = /\$\$\{|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

export function hasReference(value: unknown): boolean {
  return typeof value === "string" && value.includes("${");
}

/**
 * Replaces `${VAR}` and `${VAR:-default}` in every string of `value`; `$${` escapes a literal `${`.
 * As in a shell, the default also replaces an empty variable.
 */
export function expandVariables(
  value: unknown,
  env: Variables,
): { value: unknown; missing: MissingVariable[] } {
  const missing: MissingVariable[] = [];
  const walk = (part: unknown, path: SettingPath): unknown => {
    if (typeof part === "string") {
      return part.replace(REFERENCE, (whole, name: string | undefined, fallback: string | undefined) => {
        if (name === undefined) return "${";
        const found = fallback === undefined ? env[name] : env[name] || fallback;
        if (found === undefined) missing.push({ name, path });
        return found ?? whole;
      });
    }
    if (Array.isArray(part)) return part.map((item, index) => walk(item, [...path, index]));
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, item]) => [key, walk(item, [...path, key])]));
  };
  return { value: walk(value, []), missing };
}

const TRUE = new Set(["true", "1", "yes", "on"]);
const FALSE = new Set(["false", "0", "no", "off"]);

/**
 * Parses the text as the setting's type. Returns the text unchanged if it does not parse;
 * validation reports it.
 */
export function parseSettingText(name: SettingName, text: string): unknown {
  const schema: TSchema = SettingsSchema.properties[name];
  const type = schema.type as string | undefined;
  if (type === "integer" || type === "number")
    return text.trim() !== "" && !isNaN(Number(text)) ? Number(text) : text;
  if (type === "boolean") return parseBoolean(text);
  if (type === "array") return text.trimStart().startsWith("[") ? parseJson(text) : splitList(text);
  if (type === "object" || text.trimStart().startsWith("{"))
    return type === "string" ? text : parseJson(text);
  return text;
}

function parseBoolean(text: string): unknown {
  const word = text.trim().toLowerCase();
  if (TRUE.has(word)) return true;
  return FALSE.has(word) ? false : text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export function splitList(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter(Boolean);
}

interface EnvSource {
  flags?: SettingsInput;
  env: Variables;
  file: {
    values: Record<string, unknown>;
    document?: ConfigDocument;
    pathOf: (path: SettingPath) => SettingPath;
  };
  cwd: string;
  baseDir: string;
}

interface OwnVariables {
  variables: Record<string, string>;
  file?: string;
  warnings: string[];
}

const USUAL_FILE = ".env";

/**
 * Variables of the setting `env`: an env file or an object. By default, reads `.env` next to the
 * configuration file if it exists.
 * A missing env file is an error if a flag or variable names it. If the configuration names it, it
 * is only a warning, because a fresh checkout does not have the file.
 * @throws ConfigError (`config_invalid`)
 */
export async function loadVariables({ flags, env, file, cwd, baseDir }: EnvSource): Promise<OwnVariables> {
  const text = env[variableName("env")];
  if (flags?.env !== undefined) return readNamed(flags.env, cwd, flagName("env"));
  if (text) return readNamed(parseSettingText("env", text), cwd, variableName("env"));
  const { value, missing } = expandVariables(file.values.env, env);
  const [first] = missing;
  if (first) {
    throw new ConfigError(`environment variable ${first.name} is not set, env needs it`, {
      hint: `set ${first.name}, or write \${${first.name}:-default}`,
      location: file.document?.locate(file.pathOf(["env", ...first.path])),
    });
  }
  return value === undefined ? readUsual(join(baseDir, USUAL_FILE)) : readNamed(value, baseDir);
}

async function readUsual(file: string): Promise<OwnVariables> {
  const variables = await readEnvFile(file, false);
  return { variables: variables ?? {}, ...(variables && { file }), warnings: [] };
}

async function readNamed(env: unknown, folder: string, namedBy?: string): Promise<OwnVariables> {
  if (typeof env === "object" && env !== null) {
    const entries = Object.entries(env).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    );
    return { variables: Object.fromEntries(entries), warnings: [] };
  }
  if (typeof env !== "string" || env === "") return { variables: {}, warnings: [] };
  const file = resolve(folder, env);
  const variables = await readEnvFile(file, true);
  if (variables) return { variables, file, warnings: [] };
  const message = `env file ${relative(folder, file) || file} does not exist`;
  const creation = existsSync(`${file}.example`)
    ? `copy ${basename(file)}.example to it`
    : "create it, with lines such as NAME=value";
  if (namedBy !== undefined)
    throw new ConfigError(`${namedBy}: ${message}`, {
      hint: `${creation}; the path was resolved against ${folder}`,
    });
  return { variables: {}, file, warnings: [`${message}; ${creation}, or remove env from the configuration`] };
}

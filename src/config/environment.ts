/** Settings from environment variables, and the variables of env files. */
import { readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import type { Variables } from "./expand.js";
import { nearest } from "../nearest.js";
import { parseSettingText } from "./parse-text.js";
import { SettingsSchema, type SettingName } from "./settings.js";

const PREFIX = "GRAPH_SERVE_";
/** The key that commands send to the server of --url: theirs, and no setting. */
export const CLIENT_KEY_VARIABLE = "GRAPH_SERVE_API_KEY";

/** The environment variable of a setting. */
export function variableOf(name: SettingName): string {
  return PREFIX + name.toUpperCase();
}

const FLAGS: Partial<Record<SettingName, string>> = {
  allowed_hosts: "--allow-host",
  cors_origins: "--cors-origin",
  env: "--env-file",
  run_timeout_seconds: "--run-timeout",
  shutdown_grace_seconds: "--shutdown-grace",
};

/** The command line flag of a setting. */
export function flagOf(name: SettingName): string {
  return FLAGS[name] ?? `--${name.replaceAll("_", "-")}`;
}

export const SETTING_NAMES = Object.keys(SettingsSchema.properties) as SettingName[];

/** The settings that variables give, each read by its type; an empty variable counts as not set. */
export function settingsFromEnvironment(env: Variables): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const name of SETTING_NAMES) {
    const text = env[variableOf(name)];
    if (text) values[name] = parseSettingText(name, text);
  }
  return values;
}

/** A warning for each variable that is close to the name of a setting's variable and is none. */
export function misspelledVariables(env: Variables): string[] {
  const known = SETTING_NAMES.map(variableOf);
  const isNone = (variable: string) => known.includes(variable) || variable === CLIENT_KEY_VARIABLE;
  return Object.keys(env).flatMap((variable) => {
    if (!variable.startsWith(PREFIX) || isNone(variable)) return [];
    const similar = nearest(
      variable.slice(PREFIX.length),
      known.map((name) => name.slice(PREFIX.length)),
    );
    return similar === undefined ? [] : [`${variable} is no setting; did you mean ${PREFIX}${similar}?`];
  });
}

/** The variables of an env file; undefined when there is no such file. */
export async function readEnvFile(file: string): Promise<Record<string, string> | undefined> {
  try {
    return parseEnv(await readFile(file, "utf8")) as Record<string, string>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

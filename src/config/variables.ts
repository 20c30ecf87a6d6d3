/** The variables that the setting `env` brings, needed before any other setting can be read. */
import { relative, resolve } from "node:path";
import { ConfigError } from "../errors.js";
import type { ConfigDocument, SettingPath } from "./document.js";
import { flagOf, readEnvFile, variableOf } from "./environment.js";
import { expandVariables, type Variables } from "./expand.js";
import { parseSettingText } from "./parse-text.js";
import type { SettingsInput } from "./settings.js";

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

export interface OwnVariables {
  variables: Record<string, string>;
  /** The env file that was asked for. */
  file?: string;
  warnings: string[];
}

/**
 * Variables of the env file or of the map. A missing env file is an error when it was named by flag or variable, and a
 * warning when the configuration names it, since a fresh checkout has none.
 * @throws ConfigError (`config_invalid`)
 */
export async function loadVariables({ flags, env, file, cwd, baseDir }: EnvSource): Promise<OwnVariables> {
  const text = env[variableOf("env")];
  if (flags?.env !== undefined) return readNamed(flags.env, cwd, flagOf("env"));
  if (text) return readNamed(parseSettingText("env", text), cwd, variableOf("env"));
  const { value, missing } = expandVariables(file.values.env, env);
  const [first] = missing;
  if (first) {
    throw new ConfigError(`environment variable ${first.name} is not set, env needs it`, {
      hint: `set ${first.name}, or write \${${first.name}:-default}`,
      location: file.document?.locate(file.pathOf(["env", ...first.path])),
    });
  }
  return readNamed(value, baseDir);
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
  const variables = await readEnvFile(file);
  if (variables) return { variables, file, warnings: [] };
  const message = `env file ${relative(folder, file) || file} does not exist`;
  if (namedBy !== undefined)
    throw new ConfigError(`${namedBy}: ${message}`, { hint: `it was looked for in ${folder}` });
  return { variables: {}, file, warnings: [message] };
}

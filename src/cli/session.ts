/** What a command works with: its process, its flags, its output, and the settings when it asks for them. */
import { resolve } from "node:path";
import { loadConfig, type LoadedConfig } from "../config/load.js";
import type { SettingsInput } from "../config/settings.js";
import { settingsOfFlags, type GlobalFlags } from "./flags.js";
import type { CliIo } from "./io.js";
import { Printer } from "./print.js";
import { foreignVariables } from "./variables.js";

export interface Session {
  /** `cwd` is the folder that `--cwd` names. */
  io: CliIo;
  flags: GlobalFlags;
  print: Printer;
}

export function createSession(io: CliIo, flags: GlobalFlags): Session {
  const cwd = flags.cwd === undefined ? io.cwd : resolve(io.cwd, flags.cwd);
  return { io: { ...io, cwd }, flags, print: new Printer(io, flags) };
}

/**
 * The settings, with those of the global flags; prints the warnings.
 * @throws ConfigError (`config_invalid`)
 */
export async function loadSettings(
  { io, flags, print }: Session,
  options: {
    graphs?: readonly string[];
    settings?: SettingsInput;
    /** Takes the warnings instead of stderr. */
    warn?: (message: string) => void;
  } = {},
): Promise<LoadedConfig> {
  const config = await loadConfig({
    cwd: io.cwd,
    file: flags.config,
    env: foreignVariables(io.env),
    flags: { ...settingsOfFlags({ env: flags.envFile, log_level: flags.logLevel }), ...options.settings },
    graphs: options.graphs,
  });
  config.warnings.forEach(options.warn ?? ((warning) => print.warn(warning)));
  return config;
}

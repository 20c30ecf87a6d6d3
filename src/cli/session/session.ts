/** The session of a command: its process, flags and output, and access to the settings. */
import { statSync } from "node:fs";
import { relative, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Variables } from "../../config/environment.js";
import type { IgnoredField } from "../../config/langgraph-fields.js";
import { loadConfig, type LoadedConfig } from "../../config/load.js";
import type { SettingsInput } from "../../config/settings.js";
import { assertWatchdog } from "../../config/watchdog-settings.js";
import { ConfigError, InvalidRequestError } from "../../support/errors.js";
import type { ProcessExit } from "../../support/graph-code.js";
import type { CliIo } from "../terminal/io.js";
import { type GlobalFlags, settingsOfFlags } from "./options.js";
import { Printer } from "../terminal/print.js";

/** Handlers of unhandled errors; `currentRun()` returns the run that caused one. */
export interface UnhandledErrors {
  /** For a rejected promise that is never awaited; the process can continue. */
  rejection: (error: unknown) => void;
  /** For an exception in a timer or callback; it is unknown what work was interrupted. */
  exception: (error: unknown) => void;
  /** For a graph that tried to exit the process; without a handler, a warning is printed. */
  exit?: (error: ProcessExit) => void;
}

export interface Session {
  /** `cwd` is the folder that `--cwd` names. */
  io: CliIo;
  flags: GlobalFlags;
  print: Printer;
  /** Handlers of unhandled errors, set by commands that handle them themselves. */
  unhandled?: UnhandledErrors;
  /** Receives the report of a graph that loads for long; without it, a line is printed. */
  longLoad?: (message: string) => void;
}

export function createSession(io: CliIo, flags: GlobalFlags): Session {
  const cwd = flags.cwd === undefined ? io.cwd : resolve(io.cwd, flags.cwd);
  if (flags.cwd !== undefined && !statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw new InvalidRequestError(`--cwd is not an existing folder: ${cwd}`);
  const here = { ...io, cwd };
  return { io: here, flags, print: new Printer(here, flags) };
}

export interface SettingsRequest {
  /** Graphs to serve instead of the configured ones. */
  graphs?: readonly string[];
  /** Settings from flags. */
  settings?: SettingsInput;
  /** Receives the warnings instead of stderr. */
  warn?: (message: string) => void;
  /** Receives the line about the env file instead of stderr. */
  note?: (message: string) => void;
}

/**
 * Loads the settings, including those from global flags, and prints the warnings.
 * @throws ConfigError (`config_invalid`)
 */
export async function loadSettings(
  { io, flags, print }: Session,
  options: SettingsRequest = {},
): Promise<LoadedConfig> {
  const config = await loadConfig({
    cwd: io.cwd,
    file: flags.config,
    env: foreignVariables(io.env),
    flags: { ...settingsOfFlags({ env: flags.env, log_level: flags.logLevel }), ...options.settings },
    graphs: options.graphs,
  });
  config.warnings.forEach(options.warn ?? ((warning) => print.warn(warning)));
  return config;
}

/**
 * Like `loadSettings`, for a server: warns about ignored fields of a langgraph.json, and rejects ignored fields that
 * restrict access.
 * @throws ConfigError (`config_invalid`)
 */
export async function loadServableSettings(
  session: Session,
  options: SettingsRequest = {},
): Promise<LoadedConfig> {
  const config = await loadSettings(session, options);
  assertWatchdog(config.settings);
  const { warn = (message) => session.print.warn(message) } = options;
  const { note = (message) => session.print.note(message) } = options;
  if (config.envFile !== undefined && Object.keys(config.env).length > 0)
    note(`loaded variables from ${relative(session.io.cwd, config.envFile)}`);
  for (const field of config.unheeded) {
    if (field.protects) throw ignoredFieldError(field);
    warn(ignoredFieldText(field));
  }
  return config;
}

export const ignoredFieldError = ({ message, hint, location }: IgnoredField): ConfigError =>
  new ConfigError(message, { hint, location });

export const ignoredFieldText = ({ message, location: { file, line } }: IgnoredField): string =>
  `${file}:${line ?? 1}: ${message}`;

/**
 * Asks for confirmation before data is deleted; `--yes` skips the prompt. Returns false unless the answer is yes.
 * @throws InvalidRequestError without a terminal (`invalid_request`)
 */
export async function confirm({ io, flags, print }: Session, question: string): Promise<boolean> {
  if (flags.yes) return true;
  if (!io.stdin.isTTY || !print.isWatched) {
    throw new InvalidRequestError(`${question} Confirmation needs a terminal`, undefined, {
      hint: "add --yes to skip the prompt",
    });
  }
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      io.stderr.write(String(chunk));
      done();
    },
  });
  const prompt = createInterface({ input: io.stdin, output });
  try {
    return /^y(es)?$/i.test((await prompt.question(`${question} [y/N] `)).trim());
  } finally {
    prompt.close();
  }
}

// Variables of the env file in `process.env`, where graphs read them. Existing variables are not overwritten.

const ours = new Map<string, string>();

const isOurs = (name: string, env: Variables): boolean => ours.has(name) && ours.get(name) === env[name];

/** Sets these variables and removes those of the previous call. */
export function setVariables(variables: Readonly<Record<string, string>>): void {
  for (const name of ours.keys()) {
    if (isOurs(name, process.env)) delete process.env[name];
    ours.delete(name);
  }
  for (const [name, value] of Object.entries(variables)) {
    if (process.env[name] !== undefined) continue;
    process.env[name] = value;
    ours.set(name, value);
  }
}

/** The environment without variables from an env file, so that edits to the file take effect. */
function foreignVariables(env: Variables): Variables {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOurs(name, env)));
}

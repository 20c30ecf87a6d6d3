/** What a command works with: its process, its flags, its output, and the settings when it asks for them. */
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
import type { ProcessExit } from "../../support/exit-guard.js";
import type { CliIo } from "../terminal/io.js";
import { type GlobalFlags, settingsOfFlags } from "./options.js";
import { Printer } from "../terminal/print.js";

/** Handlers of unhandled errors; `currentRun()` returns the run that caused one. */
export interface UnhandledErrors {
  /** For a rejected promise that is never awaited; the process can continue. */
  rejection: (error: unknown) => void;
  /** Of a timer or a callback: what it cut short is not known. */
  exception: (error: unknown) => void;
  /** A graph would have ended the process; where nothing takes it, it is shown. */
  exit?: (error: ProcessExit) => void;
}

export interface Session {
  /** `cwd` is the folder that `--cwd` names. */
  io: CliIo;
  flags: GlobalFlags;
  print: Printer;
  /** Takes the errors that nothing handles, once a command has set it. */
  unhandled?: UnhandledErrors;
}

export function createSession(io: CliIo, flags: GlobalFlags): Session {
  const cwd = flags.cwd === undefined ? io.cwd : resolve(io.cwd, flags.cwd);
  if (flags.cwd !== undefined && !statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw new InvalidRequestError(`--cwd names no folder: ${cwd}`);
  const here = { ...io, cwd };
  return { io: here, flags, print: new Printer(here, flags) };
}

export interface SettingsRequest {
  /** Graphs to serve instead of the configured ones. */
  graphs?: readonly string[];
  /** What flags set. */
  settings?: SettingsInput;
  /** Takes the warnings instead of stderr. */
  warn?: (message: string) => void;
}

/**
 * The settings, with those of the global flags; prints the warnings.
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
 * As `loadSettings`, for a server: warns of ignored fields of a langgraph.json, and refuses to ignore those that protect
 * access.
 * @throws ConfigError (`config_invalid`)
 */
export async function loadServableSettings(
  session: Session,
  options: SettingsRequest = {},
): Promise<LoadedConfig> {
  const config = await loadSettings(session, options);
  assertWatchdog(config.settings);
  const { warn = (message) => session.print.warn(message) } = options;
  if (config.envFile !== undefined && Object.keys(config.env).length > 0)
    session.print.note(`variables of ${relative(session.io.cwd, config.envFile)}`);
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
 * Ask for confirmation before data is lost; `--yes` skips the question. False if the answer is no.
 * @throws InvalidRequestError without a terminal to ask on (`invalid_request`)
 */
export async function confirm({ io, flags, print }: Session, question: string): Promise<boolean> {
  if (flags.yes) return true;
  if (!io.stdin.isTTY || !print.isWatched) {
    throw new InvalidRequestError(`${question} There is no terminal to confirm on`, undefined, {
      hint: "add --yes",
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

// Variables of the env file in this process. Graphs read them from there; what was set before us stays.

const ours = new Map<string, string>();

const isOurs = (name: string, env: Variables): boolean => ours.has(name) && ours.get(name) === env[name];

/** Set these variables, in place of those of the last call. */
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

/** The environment without what came from an env file, so that an edited file is not hidden by its old self. */
function foreignVariables(env: Variables): Variables {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOurs(name, env)));
}

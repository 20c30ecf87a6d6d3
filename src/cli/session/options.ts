/** Flags that several commands share, worded from the settings they set. */
import type { Command, OptionValues } from "@commander-js/extra-typings";
import { parseSettingText, splitList, variableName } from "../../config/environment.js";
import { type SettingName, type SettingsInput, SettingsSchema } from "../../config/settings.js";
import type { JsonObject } from "../../models/common.js";
import { errorMessage, InvalidRequestError } from "../../support/errors.js";
import { didYouMean } from "../../support/nearest.js";
import { Option } from "./commander.js";
import { CLIENT_KEY_VARIABLE } from "../../support/secrets.js";

/** Flags that every command has. */
export interface GlobalFlags {
  config?: string;
  cwd?: string;
  env?: string;
  json?: boolean;
  jsonl?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  logLevel?: string;
  color?: boolean;
  yes?: boolean;
}

/** An option that sets a setting: its description, its variable. Its value is text; the setting's type reads it. */
export function settingOption<Flags extends string>(flags: Flags, name: SettingName, fallback?: string) {
  return new Option(flags, describeSetting(name, fallback));
}

/** As `settingOption`, for a list: the flag may come more than once. */
function settingListOption<Flags extends string>(flags: Flags, name: SettingName) {
  return new Option(flags, describeSetting(name)).argParser(
    (text: string, before: string[] | undefined): string[] => [...(before ?? []), ...splitList(text)],
  );
}

/** `fallback` is said in place of the setting's default, by commands that have one of their own. */
function describeSetting(name: SettingName, fallback?: string): string {
  const { description = "", default: preset } = SettingsSchema.properties[name] as {
    description?: string;
    default?: unknown;
  };
  const shown = fallback ?? (Array.isArray(preset) ? preset.join(",") : preset);
  const notes = [
    shown === undefined || shown === "" ? [] : [`default ${shown as string}`],
    `env ${variableName(name)}`,
  ];
  const text = description.charAt(0).toLowerCase() + description.slice(1).replace(/\.$/, "");
  return `${text} (${notes.flat().join(", ")})`;
}

/** Values of options that set settings, by the setting's name. */
type SettingFlags = Partial<Record<SettingName, string | string[] | undefined>>;

/** The settings that flags give. */
export function settingsOfFlags(flags: SettingFlags): SettingsInput {
  const given = Object.entries(flags) as [SettingName, string | string[] | undefined][];
  return Object.fromEntries(
    given
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === "string" ? parseSettingText(name, value) : value]),
  );
}

const BYTE_UNITS: Record<string, number> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** Bytes as a number of text: `20mb`, `512k`, `1048576`; other text as it is. */
export function bytesText(text: string): string {
  const match = /^(\d+)\s*([kmg]?)b?$/i.exec(text.trim());
  return match ? String(Number(match[1]) * (BYTE_UNITS[(match[2] ?? "").toLowerCase()] ?? 1)) : text;
}

/**
 * The JSON value of a flag.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function parseJsonFlag(flag: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new InvalidRequestError(`${flag} is not JSON: ${jsonFault(text, error)}`, undefined, {
      hint: /^\s*[[{"]/.test(text) ? undefined : `quote a string twice: ${flag} '"text"'`,
      cause: error,
    });
  }
}

/** Characters that are shown on each side of a fault. */
const AROUND = 30;

/** What the parser says, and the text there with a marker under the place. */
function jsonFault(text: string, error: unknown): string {
  const [reason = ""] = errorMessage(error).split(/ in JSON at position|, "/, 1);
  const found = /at position (\d+)/.exec(errorMessage(error))?.[1];
  const at = found === undefined ? faultOf(text) : Number(found);
  const lineStart = text.lastIndexOf("\n", at - 1) + 1;
  const start = Math.max(lineStart, at - AROUND);
  const [shown = ""] = text.slice(start, at + AROUND).split("\n", 1);
  return `${reason}\n${shown}\n${" ".repeat(at - start)}^`;
}

/** Where the parser does not say it: as long as the text so far may continue as JSON, the error is further on. */
function faultOf(text: string): number {
  let [good, bad] = [0, text.length + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (mayGoOn(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

function mayGoOn(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const found = /at position (\d+)/.exec(errorMessage(error))?.[1];
    return /Unexpected end|Unterminated/.test(errorMessage(error)) || Number(found) >= text.length;
  }
}

/** The flags of a command that opens a storage. */
export function addStorageOptions<
  Args extends unknown[],
  Flags extends OptionValues,
  Globals extends OptionValues,
>(command: Command<Args, Flags, Globals>) {
  return command
    .addOption(
      new Option(
        "--db <uri>",
        `storage: a file such as ./threads.db, a URI such as postgres://host/name, or memory (env ${variableName("checkpointer_scheme")}, ${variableName("checkpointer_uri")})`,
      ),
    )
    .addOption(settingOption("--checkpointer-scheme <scheme>", "checkpointer_scheme").hideHelp())
    .addOption(settingOption("--checkpointer-uri <uri>", "checkpointer_uri").hideHelp());
}

/** The flags of a command that reads a storage or asks a server. */
export function addClientOptions<
  Args extends unknown[],
  Flags extends OptionValues,
  Globals extends OptionValues,
>(command: Command<Args, Flags, Globals>) {
  return addStorageOptions(command.addOption(clientOptions.url()).addOption(clientOptions.apiKey()));
}

/** The flags that say where a thread lives. */
export interface PlaceFlags extends StorageFlags {
  url?: string;
  /** Key of that server; it is never part of a command that is shown. */
  apiKey?: string;
}

/** The flags of every command that reads a storage or asks a server. */
export interface ClientFlags extends PlaceFlags {
  /** Show what the graph's output schema hides; offline only. */
  raw?: boolean;
}

export const listenOptions = {
  port: () => settingOption("-p, --port <port>", "port"),
  host: () => settingOption("--host <host>", "host"),
  corsOrigin: () => settingListOption("--cors-origin <origin>", "cors_origins"),
  allowHost: () => settingListOption("--allow-host <name>", "allowed_hosts"),
  compat: () => settingOption("--compat <name>", "compat").choices(["specification", "langgraph"]),
};

export interface StorageFlags {
  /** Sets both of the others. */
  db?: string;
  checkpointerScheme?: string;
  checkpointerUri?: string;
}

export interface ListenFlags extends StorageFlags {
  port?: string;
  host?: string;
  corsOrigin?: string[];
  allowHost?: string[];
  compat?: string;
}

/**
 * The settings of the storage flags.
 * @throws InvalidRequestError when `--db` says one storage and the other flags another (`invalid_request`)
 */
export function storageSettings(flags: StorageFlags): SettingFlags {
  const { db, checkpointerScheme, checkpointerUri } = flags;
  if (db === undefined) return { checkpointer_scheme: checkpointerScheme, checkpointer_uri: checkpointerUri };
  const named = storageNamed(db);
  const refuse = (flag: string, value: string) => {
    throw new InvalidRequestError(`--db ${db} and ${flag} ${value} name different storages`, undefined, {
      hint: "leave one of them out",
    });
  };
  if (checkpointerScheme !== undefined && canonicalScheme(checkpointerScheme) !== named.checkpointer_scheme)
    refuse("--checkpointer-scheme", checkpointerScheme);
  if (checkpointerUri !== undefined && checkpointerUri !== named.checkpointer_uri)
    refuse("--checkpointer-uri", checkpointerUri);
  return named;
}

const SCHEMES_OF_URIS: readonly [RegExp, string][] = [
  [/^postgres(ql)?:/i, "postgres"],
  [/^mongodb(\+srv)?:/i, "mongodb"],
  [/^rediss?:/i, "redis"],
];

/** The storage that a `--db` names: a URI says its scheme, anything else is a file of SQLite. */
function storageNamed(uri: string): { checkpointer_scheme: string; checkpointer_uri?: string } {
  if (uri === "memory") return { checkpointer_scheme: "memory" };
  const [, scheme = "sqlite"] = SCHEMES_OF_URIS.find(([pattern]) => pattern.test(uri)) ?? [];
  return { checkpointer_scheme: scheme, checkpointer_uri: uri };
}

const SAME_SCHEMES: Readonly<Record<string, string>> = {
  postgresql: "postgres",
  mongo: "mongodb",
  rediss: "redis",
};
const canonicalScheme = (scheme: string): string => SAME_SCHEMES[scheme] ?? scheme;

/** The storage flags, with the scheme that a `--checkpointer-uri` alone says well enough. */
export function impliedScheme(flags: StorageFlags): StorageFlags {
  const { db, checkpointerScheme, checkpointerUri: uri } = flags;
  if (db !== undefined || checkpointerScheme !== undefined || uri === undefined) return flags;
  return { ...flags, checkpointerScheme: storageNamed(uri).checkpointer_scheme };
}

export function listenSettings(flags: ListenFlags): SettingFlags {
  const { port, host, compat, corsOrigin, allowHost } = flags;
  const access = { cors_origins: corsOrigin, allowed_hosts: allowHost };
  return { ...storageSettings(flags), port, host, compat, ...access };
}

// Flags of the form `K=V`, which may come more than once.

/** A flag that collects its values. */
export function listOption<Flags extends string>(flags: Flags, description: string) {
  return new Option(flags, description).argParser((text: string, before: string[] | undefined): string[] => [
    ...(before ?? []),
    text,
  ]);
}

/**
 * The object that `K=V` flags spell: V is JSON where it reads as JSON, else text.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function keyValues(flag: string, texts: readonly string[] | undefined): JsonObject | undefined {
  if (texts === undefined) return undefined;
  const entries = texts.map((text): [string, unknown] => {
    const [, key, value] = /^([^=]+)=([^]*)$/.exec(text) ?? [];
    if (key === undefined || value === undefined) {
      throw new InvalidRequestError(`${flag} must be K=V, it is ${text}`, undefined, {
        hint: `such as ${flag} user=ada, or ${flag} count=3`,
      });
    }
    return [key, jsonOrText(value)];
  });
  return Object.fromEntries(entries);
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/**
 * The one of the known words that a flag says.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function oneOf<T extends string>(flag: string, text: string, known: readonly T[]): T {
  const found = known.find((one) => one === text);
  if (found !== undefined) return found;
  const similar = didYouMean(text, known);
  throw new InvalidRequestError(`${flag} does not know "${text}"`, undefined, {
    hint: `${similar === undefined ? "" : `${similar} `}There are: ${known.join(", ")}`,
  });
}

// Numbers and times that flags spell.

/** @throws InvalidRequestError if it is not a whole number from `least` to `most` (`invalid_request`) */
export function wholeNumber(flag: string, text: string, least = 0, most = Infinity): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  const range = most === Infinity ? `from ${least} on` : `from ${least} to ${most}`;
  throw new InvalidRequestError(`${flag} must be a whole number ${range}, it is ${text}`);
}

/** As `wholeNumber`, for a flag that may be left out. */
export function optionalNumber(flag: string, text: string | undefined, least?: number): number | undefined {
  return text === undefined ? undefined : wholeNumber(flag, text, least);
}

const TIME_UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/**
 * Milliseconds of a duration such as `90s`, `30m`, `12h`, `30d`, `2w`.
 * @throws InvalidRequestError (`invalid_request`)
 */
function duration(flag: string, text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text.trim()) ?? [];
  const seconds = TIME_UNITS[unit ?? ""];
  if (amount !== undefined && seconds !== undefined) return Number(amount) * seconds * 1000;
  throw new InvalidRequestError(`${flag} must be a duration, it is ${text}`, undefined, {
    hint: `such as ${flag} 12h, or ${flag} 30d`,
  });
}

/**
 * A point in time as ISO 8601: a date or a time, local ones unless they say otherwise, or a duration before now.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function timeOf(flag: string, text: string, now = Date.now()): string {
  // A date alone would be one of UTC.
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text;
  if (/^\d{4}-\d\d/.test(at) && !Number.isNaN(Date.parse(at))) return new Date(at).toISOString();
  return new Date(now - duration(flag, text)).toISOString();
}

// Flags of the commands that have a source.

/** Help text for naming a checkpoint, after its purpose. */
const CHECKPOINT = "its id or the beginning of it, a step, or -1 for the latest";

/** `purpose` says which checkpoint it is. */
export const checkpointOption = (purpose: string) =>
  new Option("--checkpoint <checkpoint>", `${purpose}: ${CHECKPOINT}`);

/** The argument that names a thread. */
export const THREAD = "id of the thread, or its beginning";
/** The argument that names a thread, or one of its checkpoints. */
export const THREAD_AT = `${THREAD}; with @ and a checkpoint: ${CHECKPOINT}`;

export const clientOptions = {
  url: () => new Option("--url <url>", "ask this server instead of reading the storage"),
  apiKey: () =>
    new Option("--api-key <key>", `key that the server of --url asks for (env ${CLIENT_KEY_VARIABLE})`),
  raw: () => new Option("--raw", "also show what the graph's output schema hides (offline only)"),
};

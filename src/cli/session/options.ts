/** Flags shared by several commands; descriptions come from the settings they set. */
import type { Command, OptionValues } from "@commander-js/extra-typings";
import { parseSettingText, splitList, variableName } from "../../config/environment.js";
import { type SettingName, type SettingsInput, SettingsSchema } from "../../config/settings.js";
import type { JsonObject } from "../../models/common.js";
import { InvalidRequestError } from "../../support/errors.js";
import { errorMessage } from "../../support/errors/thrown.js";
import { didYouMean } from "../../support/nearest.js";
import { Option } from "./commander.js";
import { CLIENT_KEY_VARIABLE } from "../../support/secrets.js";

/** Flags of every command. */
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

/** An option that sets a setting, with the setting's description and variable. The setting's type parses the text. */
export function settingOption<Flags extends string>(flags: Flags, name: SettingName) {
  return new Option(flags, describeSetting(name));
}

/** Like `settingOption`, for a list: the flag can be repeated. */
function settingListOption<Flags extends string>(flags: Flags, name: SettingName) {
  return new Option(flags, describeSetting(name)).argParser(
    (text: string, before: string[] | undefined): string[] => [...(before ?? []), ...splitList(text)],
  );
}

function describeSetting(name: SettingName): string {
  const { description = "", default: preset } = SettingsSchema.properties[name] as {
    description?: string;
    default?: unknown;
  };
  const shown = Array.isArray(preset) ? preset.join(",") : preset;
  const notes = [
    shown === undefined || shown === "" ? [] : [`default ${shown as string}`],
    `env ${variableName(name)}`,
  ];
  const text = description.charAt(0).toLowerCase() + description.slice(1).replace(/\.$/, "");
  return `${text} (${notes.flat().join(", ")})`;
}

/** Values of setting options, by setting name. */
type SettingFlags = Partial<Record<SettingName, string | string[] | undefined>>;

export function settingsOfFlags(flags: SettingFlags): SettingsInput {
  const given = Object.entries(flags) as [SettingName, string | string[] | undefined][];
  return Object.fromEntries(
    given
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === "string" ? parseSettingText(name, value) : value]),
  );
}

const BYTE_UNITS: Record<string, number> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** Converts sizes such as `20mb` or `512k` to bytes; returns other text unchanged. */
export function bytesText(text: string): string {
  const match = /^(\d+)\s*([kmg]?)b?$/i.exec(text.trim());
  return match ? String(Number(match[1]) * (BYTE_UNITS[(match[2] ?? "").toLowerCase()] ?? 1)) : text;
}

/**
 * Parses the JSON value of a flag.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function parseJsonFlag(flag: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new InvalidRequestError(`${flag} is not valid JSON: ${jsonFault(text, error)}`, undefined, {
      hint: /^\s*[[{"]/.test(text) ? undefined : `quote a JSON string for the shell: ${flag} '"text"'`,
      cause: error,
    });
  }
}

/** Characters shown on each side of a syntax error. */
const AROUND = 30;

/** The parser's message, and an excerpt with a marker under the error. */
function jsonFault(text: string, error: unknown): string {
  const [reason = ""] = errorMessage(error).split(/ in JSON at position|, "/, 1);
  const found = /at position (\d+)/.exec(errorMessage(error))?.[1];
  const at = found === undefined ? faultOf(text) : Number(found);
  const lineStart = text.lastIndexOf("\n", at - 1) + 1;
  const start = Math.max(lineStart, at - AROUND);
  const [shown = ""] = text.slice(start, at + AROUND).split("\n", 1);
  return `${reason}\n${shown}\n${" ".repeat(at - start)}^`;
}

/** Finds the error by binary search if the parser reports no position: a prefix before it is incomplete JSON. */
function faultOf(text: string): number {
  let [good, bad] = [0, text.length + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (isPrefix(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

function isPrefix(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const found = /at position (\d+)/.exec(errorMessage(error))?.[1];
    return /Unexpected end|Unterminated/.test(errorMessage(error)) || Number(found) >= text.length;
  }
}

/** Adds the flags of a command that opens a storage. */
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

/** Adds the flags of a command that reads a storage or calls a server. */
export function addClientOptions<
  Args extends unknown[],
  Flags extends OptionValues,
  Globals extends OptionValues,
>(command: Command<Args, Flags, Globals>) {
  return addStorageOptions(command.addOption(clientOptions.url()).addOption(clientOptions.apiKey()));
}

/** Flags that locate a thread. */
export interface PlaceFlags extends StorageFlags {
  url?: string;
  /** API key of that server; never printed in a suggested command. */
  apiKey?: string;
}

/** The flags that name the configuration and the storage or server. */
export function placeWords(flags: GlobalFlags & PlaceFlags): string[] {
  const { config, cwd, env, url, db, checkpointerScheme, checkpointerUri } = flags;
  return Object.entries({
    "--config": config,
    "--cwd": cwd,
    "--env": env,
    "--url": url,
    "--db": db,
    "--checkpointer-scheme": checkpointerScheme,
    "--checkpointer-uri": checkpointerUri,
  }).flatMap(([flag, value]) => (value === undefined ? [] : [flag, quoted(value)]));
}

/** An argument as a POSIX shell reads it. */
export function quoted(text: string): string {
  return /^[\w./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Flags of every command that reads a storage or calls a server. */
export interface ClientFlags extends PlaceFlags {
  /** Show state keys outside the output schema; offline only. */
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
  /** Sets both `checkpointerScheme` and `checkpointerUri`. */
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
 * @throws InvalidRequestError if `--db` is a URI of an unknown storage, or the other flags name another storage
 *   (`invalid_request`)
 */
export function storageSettings(flags: StorageFlags): SettingFlags {
  const { db, checkpointerScheme, checkpointerUri } = flags;
  if (db === undefined) return { checkpointer_scheme: checkpointerScheme, checkpointer_uri: checkpointerUri };
  const named = storageNamed(db);
  const [, scheme] = (named.checkpointer_scheme === "sqlite" && /^([a-z][a-z0-9+.-]+):\/\//i.exec(db)) || [];
  if (scheme !== undefined && !/^(file|sqlite3?)$/i.test(scheme)) {
    throw new InvalidRequestError(`--db: there is no storage ${scheme}`, undefined, {
      hint: "name a file such as ./threads.db, a URI of postgres, mongodb or redis, or memory",
    });
  }
  const refuse = (flag: string, value: string) => {
    throw new InvalidRequestError(`--db ${db} and ${flag} ${value} name different storages`, undefined, {
      hint: "remove one of them",
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
  [/^sqlite-saver:/i, "sqlite-saver"],
];

/** The storage of `--db`: a URI contains its scheme, anything else is the path of an SQLite file. */
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

/** The storage flags, with the scheme inferred from a `--checkpointer-uri` given alone. */
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

// Flags of the form `K=V`, which can be repeated.

/** A repeatable flag; its values are collected in a list. */
export function listOption<Flags extends string>(flags: Flags, description: string) {
  return new Option(flags, description).argParser((text: string, before: string[] | undefined): string[] => [
    ...(before ?? []),
    text,
  ]);
}

/**
 * The object of `K=V` flags: V is parsed as JSON, and is a string if that fails.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function keyValues(flag: string, texts: readonly string[] | undefined): JsonObject | undefined {
  if (texts === undefined) return undefined;
  const entries = texts.map((text): [string, unknown] => {
    const [, key, value] = /^([^=]+)=([^]*)$/.exec(text) ?? [];
    if (key === undefined || value === undefined) {
      throw new InvalidRequestError(`${flag} must have the form K=V, got ${text}`, undefined, {
        hint: `for example ${flag} user=ada or ${flag} count=3`,
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
 * Checks that the value of a flag is one of `known`.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function oneOf<T extends string>(flag: string, text: string, known: readonly T[]): T {
  const found = known.find((one) => one === text);
  if (found !== undefined) return found;
  const similar = didYouMean(text, known);
  throw new InvalidRequestError(`invalid value "${text}" for ${flag}`, undefined, {
    hint: `${similar === undefined ? "" : `${similar} `}Valid values: ${known.join(", ")}`,
  });
}

// Numbers and times.

/** @throws InvalidRequestError if `text` is not a whole number from `least` to `most` (`invalid_request`) */
export function wholeNumber(flag: string, text: string, least = 0, most = Infinity): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  const range = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new InvalidRequestError(`${flag} must be a whole number ${range}, got ${text}`);
}

/** Like `wholeNumber`, for an optional flag. */
export function optionalNumber(flag: string, text: string | undefined, least?: number): number | undefined {
  return text === undefined ? undefined : wholeNumber(flag, text, least);
}

/** Flags of commands that list a page of items. */
export interface PageFlags {
  limit: string;
  offset?: string;
}

/** @throws InvalidRequestError (`invalid_request`) */
export const pageOf = ({ limit, offset }: PageFlags, most?: number) => ({
  limit: wholeNumber("--limit", limit, 1, most),
  offset: optionalNumber("--offset", offset) ?? 0,
});

const TIME_UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/**
 * Parses a duration such as `90s`, `30m`, `12h`, `30d` or `2w` to milliseconds.
 * @throws InvalidRequestError (`invalid_request`)
 */
function duration(flag: string, text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text.trim()) ?? [];
  const seconds = TIME_UNITS[unit ?? ""];
  if (amount !== undefined && seconds !== undefined) return Number(amount) * seconds * 1000;
  throw new InvalidRequestError(`${flag} must be a date, a time or a duration, got ${text}`, undefined, {
    hint: `for example ${flag} 12h, ${flag} 30d or ${flag} 2026-01-31`,
  });
}

/**
 * Parses a date, a time (both local unless they include an offset) or a duration before now to ISO 8601.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function timeOf(flag: string, text: string): string {
  // `Date.parse` reads a date without a time as UTC.
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text;
  const [, year, month, day = "01"] = /^(\d{4})-(\d\d)(?:-(\d\d))?/.exec(at) ?? [];
  // `Date.parse` takes February 30 for March 2.
  const hasDay =
    new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  if (hasDay && !Number.isNaN(Date.parse(at))) return new Date(at).toISOString();
  return new Date(Date.now() - duration(flag, text)).toISOString();
}

// Flags of commands that read a storage or a server.

/** Help text for naming a checkpoint, after its purpose. */
const CHECKPOINT = "its id or the beginning of the id, a step, or -1 for the latest";

/** `purpose` describes how the command uses the checkpoint. */
export const checkpointOption = (purpose: string) =>
  new Option("--checkpoint <checkpoint>", `${purpose}: ${CHECKPOINT}`);

/** Description of the thread argument. */
export const THREAD = "id of the thread, the beginning of the id, or @last";
/** Description of the run argument. */
export const RUN = "id of the run, the beginning of the id, or @last";
/** Description of an argument that accepts a thread or one of its checkpoints. */
export const THREAD_AT = `${THREAD}; append @ and a checkpoint: ${CHECKPOINT}`;

export const clientOptions = {
  url: () => new Option("--url <url>", "use this server instead of reading the storage"),
  apiKey: () => new Option("--api-key <key>", `API key for the server of --url (env ${CLIENT_KEY_VARIABLE})`),
  ns: () =>
    new Option(
      "--ns <namespace>",
      "subgraph: the node that ran it, such as pricing, or its namespace or the beginning of it",
    ),
  raw: () => new Option("--raw", "also show state keys outside the graph's output schema (offline only)"),
};

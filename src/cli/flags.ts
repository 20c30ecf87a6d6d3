/** Flags that several commands share, worded from the settings they set. */
import { Option } from "@commander-js/extra-typings";
import { variableOf } from "../config/environment.js";
import { parseSettingText, splitList } from "../config/parse-text.js";
import { SettingsSchema, type SettingName, type SettingsInput } from "../config/settings.js";
import { InvalidRequestError } from "../errors.js";

/** Flags that every command has. */
export interface GlobalFlags {
  config?: string;
  cwd?: string;
  envFile?: string;
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
export function settingListOption<Flags extends string>(flags: Flags, name: SettingName) {
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
    `env ${variableOf(name)}`,
  ];
  const text = description.charAt(0).toLowerCase() + description.slice(1).replace(/\.$/, "");
  return `${text} (${notes.flat().join(", ")})`;
}

/** Values of options that set settings, by the setting's name. */
export type SettingFlags = Partial<Record<SettingName, string | string[] | undefined>>;

/** The settings that flags give. */
export function settingsOfFlags(flags: SettingFlags): SettingsInput {
  const given = Object.entries(flags) as [SettingName, string | string[] | undefined][];
  return Object.fromEntries(
    given
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === "string" ? parseSettingText(name, value) : value]),
  );
}

const UNITS: Record<string, number> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** Bytes as a number of text: `20mb`, `512k`, `1048576`; other text as it is. */
export function bytesText(text: string): string {
  const match = /^(\d+)\s*([kmg]?)b?$/i.exec(text.trim());
  return match ? String(Number(match[1]) * (UNITS[(match[2] ?? "").toLowerCase()] ?? 1)) : text;
}

/**
 * The JSON value of a flag.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function parseJsonFlag(flag: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new InvalidRequestError(`${flag} is not JSON: ${text}`, undefined, {
      hint: `quote a string twice: ${flag} '"text"'`,
      cause: error,
    });
  }
}

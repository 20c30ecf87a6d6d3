/** Reads a setting that came as text: from an environment variable, or from an expanded variable. */
import type { TSchema } from "@sinclair/typebox";
import { SettingsSchema, type SettingName } from "./settings.js";

const TRUE = new Set(["true", "1", "yes", "on"]);
const FALSE = new Set(["false", "0", "no", "off"]);

/** The value of the setting's type; the text itself when it does not fit, which validation then reports. */
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

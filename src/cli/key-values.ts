/** Flags of the form `K=V`, which may come more than once. */
import { Option } from "@commander-js/extra-typings";
import { InvalidRequestError } from "../errors.js";
import type { JsonObject } from "../models/common.js";

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

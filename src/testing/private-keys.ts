/** Looks for keys that no client may see in all that a client gets to see. */
import type { SettingPath } from "../config/document.js";
import { isRecord } from "../models/common.js";
import { unmet, type Unmet } from "./unmet.js";

/** Something that a client gets, and what it is called. */
export interface Output {
  name: string;
  value: unknown;
}

/** One failure for each key that is in an output: the first place is named, the others are counted. */
export function leaks(keys: readonly string[], outputs: Iterable<Output>): Unmet[] {
  const places = new Map<string, { place: string; value: unknown }[]>();
  for (const { name, value } of outputs) {
    walk(value, [], (key, path, found) => {
      if (!keys.includes(key)) return;
      const list = places.get(key) ?? [];
      list.push({ place: `${name} at ${path.join(".")}`, value: found });
      places.set(key, list);
    });
  }
  return [...places].map(([key, found]) => {
    const [first] = found;
    const more = found.length > 1 ? `, and in ${found.length - 1} more places` : "";
    const message = `private key "${key}" reached the client: ${first?.place}${more}`;
    return {
      ...unmet(["private", keys.indexOf(key)], message, { expected: `no "${key}"`, actual: first?.value }),
      expectation: `private ${key}`,
    };
  });
}

function walk(
  value: unknown,
  path: SettingPath,
  visit: (key: string, path: SettingPath, value: unknown) => void,
): void {
  if (Array.isArray(value)) value.forEach((item, index) => walk(item, [...path, index], visit));
  else if (isRecord(value)) {
    for (const [key, inner] of Object.entries(value)) {
      visit(key, [...path, key], inner);
      walk(inner, [...path, key], visit);
    }
  }
}

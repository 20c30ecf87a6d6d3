/** An expectation that a run does not meet. */
import type { SettingPath } from "../config/document.js";
import type { Bounds } from "./case-model.js";
import { boundsText, within } from "./matcher.js";
import type { Failure } from "./result.js";

/** A failure, and where its expectation stands inside of `expect`. */
export interface Unmet extends Omit<Failure, "location" | "step"> {
  path: SettingPath;
}

export function unmet(
  path: SettingPath,
  message: string,
  values: { expected?: unknown; actual?: unknown } = {},
): Unmet {
  return { path, expectation: placeText(path), message, ...values };
}

/** A number that must keep within bounds. */
export function bounded(path: SettingPath, bounds: Bounds, actual: number, unit: string): Unmet[] {
  if (within(actual, bounds)) return [];
  return [unmet(path, `${actual} ${unit}, expected ${boundsText(bounds)}`, { expected: bounds, actual })];
}

export function placeText(path: SettingPath): string {
  return path.join(".");
}

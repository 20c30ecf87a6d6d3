/** A configuration file with the position of each of its values, for errors that show the line. */
import type { SourceLocation } from "../support/errors.js";

export type SettingPath = readonly (string | number)[];

export interface ConfigDocument {
  file: string;
  value: unknown;
  /** Position of the key at `path`, or of its nearest parent that the file has. */
  locate(path: SettingPath): SourceLocation;
}

/** A document made by running a module: its values have no line. */
export function moduleDocument(file: string, value: unknown): ConfigDocument {
  return { file, value, locate: () => ({ file }) };
}

/** The part of a document under `key`, as if it were the file. */
export function documentAt(document: ConfigDocument, key: string): ConfigDocument {
  const value = (document.value as Record<string, unknown>)[key];
  return { file: document.file, value, locate: (path) => document.locate([key, ...path]) };
}

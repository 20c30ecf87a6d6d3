/** Path of a value inside a configuration file. */
import type { SourceLocation } from "../support/errors/codes.js";

export type SettingPath = readonly (string | number)[];

export interface ConfigDocument {
  file: string;
  value: unknown;
  /** Position of the key at `path`, or of its nearest parent in the file. */
  locate(path: SettingPath): SourceLocation;
}

/** Document created by running a module; its values have no line numbers. */
export function moduleDocument(file: string, value: unknown): ConfigDocument {
  return { file, value, locate: () => ({ file }) };
}

/** The section of a document under `key`, as a document. */
export function documentAt(document: ConfigDocument, key: string): ConfigDocument {
  const value = (document.value as Record<string, unknown>)[key];
  return { file: document.file, value, locate: (path) => document.locate([key, ...path]) };
}

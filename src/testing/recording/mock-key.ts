/** The recording of a case file without `mock`: its default path, and the key in the file. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parseConfigText } from "../../config/parse.js";
import { isRecord } from "../../models/common.js";
import { ConfigError } from "../../support/errors.js";
import { type CaseFile, folderOf } from "../cases/case-files.js";

/**
 * Names the recordings of case files without `mock` after their files: `fixtures/chat.jsonl` for `chat.graph.yaml`.
 * @returns the case files by the absolute path of their recording
 * @throws ConfigError if the recording of another file has this name (`config_invalid`)
 */
export function nameRecordings(files: readonly CaseFile[]): Map<string, CaseFile> {
  const named = new Map<string, CaseFile>();
  for (const file of files) {
    const { source } = file;
    if (source.mock !== undefined) continue;
    const name = basename(file.file).replace(/\.graph\.\w+$/, "");
    const mock = `fixtures/${name}.jsonl`;
    const path = resolve(folderOf(file), mock);
    if (named.has(path) || existsSync(path))
      throw new ConfigError(`${mock} exists already, and ${basename(file.file)} does not name it`, {
        hint: `add to the case file: mock: ${mock}, or another path for its recording`,
        location: { file: file.file },
      });
    source.mock = mock;
    named.set(path, file);
  }
  return named;
}

/** Adds the key before `cases`; false if the file is a module, or has a form in which this would change anything else. */
export async function writeMockKey({ file, source: { mock = "" } }: CaseFile): Promise<boolean> {
  const kind = extname(file) === ".json" ? "json" : "yaml";
  if (!/\.(json|ya?ml)$/.test(file)) return false;
  const text = await readFile(file, "utf8");
  const written =
    kind === "json"
      ? text.replace(/([ \t]*)"cases"\s*:/, (found, indent: string) => {
          const gap = indent === "" ? " " : `\n${indent}`;
          return `${indent}"mock": ${JSON.stringify(mock)},${gap}${found.trimStart()}`;
        })
      : text.replace(/^cases[ \t]*:/m, (found) => `mock: ${mock}\n${found}`);
  if (!isSameWithMock(contentOf(file, text, kind), contentOf(file, written, kind), mock)) return false;
  await writeFile(file, written);
  return true;
}

function isSameWithMock(before: unknown, after: unknown, mock: string): boolean {
  return isRecord(before) && isRecord(after) && isDeepStrictEqual({ ...before, mock }, after);
}

function contentOf(file: string, text: string, kind: "json" | "yaml"): unknown {
  try {
    return parseConfigText(file, text, kind).value;
  } catch {
    return undefined;
  }
}

/** Finds case files and reads them. */
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, extname, join, resolve } from "node:path";
import type { ConfigDocument, SettingPath } from "../config/document.js";
import { readConfig } from "../config/find.js";
import { codeFrame } from "../code-frame.js";
import { ConfigError, type SourceLocation } from "../errors.js";
import { checkedCases } from "./case-faults.js";
import type { CaseFileSource, CaseSource, Step } from "./case-model.js";

const CASE_FILE = /\.graph\.(ya?ml|json|ts|mts)$/;
const SKIPPED = new Set(["node_modules", "dist", "build", "coverage"]);

export interface CaseFile {
  /** Absolute path. */
  file: string;
  source: CaseFileSource;
  cases: Case[];
}

/** A case as it is run: the runs on its thread, and where each of its parts stands. */
export interface Case {
  name: string;
  skip: boolean;
  timeoutSeconds?: number;
  steps: CaseStep[];
  location: SourceLocation;
}

export interface CaseStep extends Step {
  /** Where an expectation of the step stands, such as `["values", "topic"]`. */
  locate(path: SettingPath): SourceLocation;
}

/**
 * Case files that the paths name: files, or folders with all below them. Sorted.
 * @throws ConfigError when a path leads to none (`config_invalid`)
 */
export async function findCaseFiles(cwd: string, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return (await filesBelow(cwd)).sort();
  const found = new Set<string>();
  for (const path of paths) {
    const place = resolve(cwd, path);
    const stats = await stat(place).catch(() => undefined);
    if (!stats) throw new ConfigError(`${path} does not exist`, { hint: NAMES });
    const files = stats.isDirectory() ? await filesBelow(place) : [place];
    if (files.length === 0) throw new ConfigError(`${path} has no case files`, { hint: NAMES });
    for (const file of files) {
      if (!CASE_FILE.test(file)) throw new ConfigError(`${path} is no case file`, { hint: NAMES });
      found.add(file);
    }
  }
  return [...found].sort();
}

const NAMES = "case files are named like chat.graph.yaml, chat.graph.json or chat.graph.ts";

async function filesBelow(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name.startsWith(".") || SKIPPED.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await filesBelow(path)));
    else if (CASE_FILE.test(entry.name)) files.push(path);
  }
  return files;
}

/**
 * Read a case file.
 * @throws ConfigError with file and line of the fault (`config_invalid`)
 */
export async function readCaseFile(file: string): Promise<CaseFile> {
  const read = await readConfig(file);
  const isModule = /^\.m?ts$/.test(extname(file));
  const document = isModule ? await withLines(read) : read;
  return caseFile(document, await checkedCases(document));
}

/** The cases of a document that was checked. */
export function caseFile(document: ConfigDocument, source: CaseFileSource): CaseFile {
  const { config, context } = source;
  const cases = source.cases.map((one, index): Case => {
    const path = ["cases", index];
    const steps = one.steps ?? [stepOf(one)];
    return {
      name: one.name,
      skip: one.skip ?? false,
      ...(one.timeout !== undefined && { timeoutSeconds: one.timeout }),
      location: document.locate(path),
      steps: steps.map((step, number) => {
        const place = [...path, ...(one.steps ? ["steps", number] : []), "expect"];
        return {
          ...step,
          config: merged(config, one.config, step.config),
          context: merged(context, one.context, step.context),
          locate: (inner) => document.locate([...place, ...inner]),
        };
      }),
    };
  });
  return { file: document.file, source, cases };
}

function stepOf({ name: _n, skip: _s, timeout: _t, steps: _st, ...step }: CaseSource): Step {
  return step;
}

function merged(...parts: (Record<string, unknown> | undefined)[]): Record<string, unknown> | undefined {
  const given = parts.filter((part) => part !== undefined);
  return given.length === 0 ? undefined : (Object.assign({}, ...given) as Record<string, unknown>);
}

/** Folder that the paths of a case file start from. */
export const folderOf = ({ file }: Pick<CaseFile, "file">): string => dirname(file);

/** A module's values have no position: its case is found by its name, an expectation by its key behind that. */
async function withLines(document: ConfigDocument): Promise<ConfigDocument> {
  const text = await readFile(document.file, "utf8");
  const locate = (path: SettingPath): SourceLocation => {
    const { cases } = document.value as { cases?: { name?: string }[] };
    const name = path[0] === "cases" ? cases?.[Number(path[1])]?.name : undefined;
    const start = name === undefined ? -1 : text.search(new RegExp(`["'\`]${escaped(name)}["'\`]`));
    if (start < 0) return document.locate(path);
    const key = path.slice(2).findLast((part) => typeof part === "string");
    const inside =
      key === undefined ? -1 : text.slice(start).search(new RegExp(`["']?${escaped(key)}["']?\\s*:`));
    const offset = inside < 0 ? start : start + inside;
    const line = text.slice(0, offset).split("\n").length;
    return { file: document.file, line, frame: codeFrame(text, line) };
  };
  return { ...document, locate };
}

const escaped = (value: string | number): string => String(value).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

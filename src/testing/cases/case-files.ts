/** Finds, reads and validates case files. */
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, extname, join, resolve } from "node:path";
import type { ErrorObject, ValidateFunction } from "ajv";
import { readConfig } from "../../config/find.js";
import type { ConfigDocument, SettingPath } from "../../config/document.js";
import { parsePath } from "../../models/value-path.js";
import { codeFrame } from "../../support/code-frame.js";
import { ConfigError } from "../../support/errors.js";
import type { Issue, SourceLocation } from "../../support/errors/codes.js";
import { didYouMean } from "../../support/nearest.js";
import {
  pathText,
  pointerKeys,
  requirement,
  shownValue,
  unknownKeyOf,
  withoutBranches,
} from "../../support/schema/schema-errors.js";
import {
  CaseFileSchema,
  type CaseFileSource,
  type CaseSource,
  type Expectation,
  type Step,
  VERBS,
} from "./case-model.js";
import { badRegularExpression, isVerbs } from "./matcher.js";

const CASE_FILE = /\.graph\.(ya?ml|json|ts|mts)$/;
const SKIPPED = new Set(["node_modules", "dist", "build", "coverage"]);

export interface CaseFile {
  /** Absolute path. */
  file: string;
  source: CaseFileSource;
  cases: Case[];
}

/** A case with its steps and the source locations of its parts. */
export interface Case {
  name: string;
  skip: boolean;
  /** Whether nodes get the same times and random values in every execution. */
  isDeterministic?: true;
  timeoutSeconds?: number;
  steps: CaseStep[];
  location: SourceLocation;
}

export interface CaseStep extends Step {
  /** Source location of an expectation of the step, such as `["values", "topic"]`. */
  locate(path: SettingPath): SourceLocation;
}

/**
 * Case files at the paths (files, or folders including subfolders), sorted.
 * @throws ConfigError if a path contains no case files (`config_invalid`)
 */
export async function findCaseFiles(cwd: string, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return (await filesBelow(cwd)).sort();
  const found = new Set<string>();
  for (const path of paths) {
    const place = resolve(cwd, path);
    const stats = await stat(place).catch(() => undefined);
    if (!stats) throw new ConfigError(`${path} does not exist`, { hint: NAMES });
    const files = stats.isDirectory() ? await filesBelow(place) : [place];
    if (files.length === 0) throw new ConfigError(`${path} contains no case files`, { hint: NAMES });
    for (const file of files) {
      if (!CASE_FILE.test(file)) throw new ConfigError(`${path} is not a case file`, { hint: NAMES });
      found.add(file);
    }
  }
  return [...found].sort();
}

const NAMES = "names of case files must end like chat.graph.yaml, chat.graph.json or chat.graph.ts";

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
 * Reads a case file.
 * @throws ConfigError with the file and line of the error (`config_invalid`)
 */
export async function readCaseFile(file: string): Promise<CaseFile> {
  const read = await readConfig(file);
  const isModule = /^\.m?ts$/.test(extname(file));
  const document = isModule ? await withLines(read) : read;
  return caseFile(document, await checkedCases(document));
}

/** The cases of a validated document. */
function caseFile(document: ConfigDocument, source: CaseFileSource): CaseFile {
  const { config, context } = source;
  const cases = source.cases.map((one, index): Case => {
    const path = ["cases", index];
    const steps = one.steps ?? [stepOf(one)];
    return {
      name: one.name,
      skip: one.skip ?? false,
      ...(one.deterministic && { isDeterministic: true }),
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

function stepOf(one: CaseSource): Step {
  const { name: _n, skip: _s, timeout: _t, deterministic: _d, steps: _st, ...step } = one;
  return step;
}

function merged(...parts: (Record<string, unknown> | undefined)[]): Record<string, unknown> | undefined {
  const given = parts.filter((part) => part !== undefined);
  return given.length === 0 ? undefined : (Object.assign({}, ...given) as Record<string, unknown>);
}

/** Folder that paths in a case file are relative to. */
export const folderOf = ({ file }: Pick<CaseFile, "file">): string => dirname(file);

/** Values of a module have no positions: searches its text for the name of a case, and then for the expectation's key. */
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

// Validation errors of a case file, with messages and paths.

interface Fault {
  path: SettingPath;
  message: string;
  hint?: string;
}

let compiled: ValidateFunction<CaseFileSource> | undefined;

/**
 * Validates the content of a case file.
 * @throws ConfigError with the line of the first error (`config_invalid`)
 */
async function checkedCases(document: ConfigDocument): Promise<CaseFileSource> {
  const { value } = document;
  const faults = [...(await schemaFaults(value))];
  if (faults.length === 0) faults.push(...ruleFaults(value as CaseFileSource));
  const [first] = faults;
  if (!first) return value as CaseFileSource;
  const issues = faults.map(({ path, message }): Issue => ({
    loc: [...path],
    msg: message,
    type: "case_invalid",
  }));
  throw new ConfigError(first.message, {
    hint: first.hint,
    issues,
    location: document.locate(first.path),
  });
}

async function schemaFaults(value: unknown): Promise<Fault[]> {
  if (value === null || value === undefined)
    return [{ path: [], message: "the case file is empty", hint: "start with: cases:" }];
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  compiled ??= new Ajv2020({
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    strict: false,
  }).compile<CaseFileSource>(CaseFileSchema);
  if (compiled(value)) return [];
  // Report unknown keys first, because a missing key may just be misspelled.
  const order = ({ keyword }: ErrorObject) => (keyword === "required" ? 1 : 0);
  return withoutBranches(compiled.errors ?? [])
    .sort((a, b) => order(a) - order(b))
    .map(toFault);
}

function toFault(error: ErrorObject): Fault {
  const path = pointerKeys(error.instancePath);
  const name = placeText(path);
  if (error.keyword === "additionalProperties") {
    const { key, hint } = unknownKeyOf(error);
    return { path: [...path, key], message: `unknown key "${key}" in ${name}`, hint };
  }
  if (error.keyword === "required") {
    const { missingProperty } = error.params as { missingProperty: string };
    return { path, message: `${name} is missing ${missingProperty}` };
  }
  return { path, message: `${name} ${caseRequirement(error)}, got ${shownValue(error.data)}` };
}

/** The description of a union says what its forms are. */
function caseRequirement(error: ErrorObject): string {
  if (error.keyword !== "anyOf") return requirement(error);
  const { description } = error.parentSchema as { description?: string };
  return `must be: ${description?.replace(/\.$/, "") ?? "one of the allowed forms"}`;
}

const placeText = (path: SettingPath): string => pathText(path) || "the case file";

/** Rules that the schema cannot express. */
function ruleFaults({ cases }: CaseFileSource): Fault[] {
  const seen = new Set<string>();
  return cases.flatMap((one, index): Fault[] => {
    const path = ["cases", index];
    const twice = seen.has(one.name);
    seen.add(one.name);
    const steps = one.steps ?? [];
    const isBoth =
      one.steps && ["input", "resume", "goto", "update", "checkpoint", "expect"].find((key) => key in one);
    return [
      ...(twice ? [{ path: [...path, "name"], message: `duplicate case name "${one.name}"` }] : []),
      ...(isBoth
        ? [{ path: [...path, isBoth], message: `a case cannot have both steps and ${isBoth}`, hint: MOVE }]
        : []),
      ...expectationFaults(one.expect, [...path, "expect"]),
      ...steps.flatMap(({ expect }, step) => expectationFaults(expect, [...path, "steps", step, "expect"])),
    ];
  });
}

const MOVE = "move it into a step";

function expectationFaults(expect: Expectation | undefined, path: SettingPath): Fault[] {
  if (!expect) return [];
  const values = Object.entries(expect.values ?? {}).flatMap(([place, matcher]): Fault[] =>
    parsePath(place) === undefined
      ? [
          {
            path: [...path, "values", place],
            message: `"${place}" is not a valid path`,
            hint: "for example items[-1].id",
          },
        ]
      : matcherFaults(matcher, [...path, "values", place]),
  );
  const others = (["nodes", "edges", "interrupt", "error"] as const).flatMap((key) =>
    matcherFaults(expect[key], [...path, key]),
  );
  return [...values, ...others];
}

/** Errors of misspelled or invalid matchers; an object without any matcher is a plain value. */
function matcherFaults(matcher: unknown, path: SettingPath): Fault[] {
  if (typeof matcher !== "object" || matcher === null || Array.isArray(matcher)) return [];
  if (!isVerbs(matcher)) {
    const keys = Object.keys(matcher);
    if (path.at(-1) === "interrupt" || path.at(-2) === "interrupt")
      return path.at(-1) === "interrupt"
        ? Object.entries(matcher).flatMap(([key, inner]) => matcherFaults(inner, [...path, key]))
        : misspelledVerb(keys, path);
    return misspelledVerb(keys, path);
  }
  const fault = badRegularExpression(matcher.match);
  return fault === undefined ? [] : [{ path: [...path, "match"], message: fault }];
}

function misspelledVerb(keys: string[], path: SettingPath): Fault[] {
  const [only] = keys;
  if (keys.length !== 1 || only === undefined) return [];
  const similar = didYouMean(only, VERBS);
  if (similar === undefined) return [];
  return [
    {
      path: [...path, only],
      message: `unknown matcher "${only}"`,
      hint: `${similar} To expect this object as a value: {equals: ...}`,
    },
  ];
}

/** Converts a CPU profile to functions with their self time, each assigned to a part of the system. */
import { readFileSync } from "node:fs";
import type { Profiler, Runtime } from "node:inspector/promises";
import { fileURLToPath } from "node:url";

export interface ProfileEntry {
  part: string;
  name: string;
  place: string;
  ms: number;
}

/** The first pattern that matches the file of a function selects its part. */
const PARTS: readonly [RegExp, string][] = [
  [/langgraph-checkpoint/, "checkpoint savers"],
  [/@langchain\/langgraph\//, "langgraph"],
  [/langsmith/, "langsmith"],
  [/@langchain\/core/, "langchain core"],
  [/node_modules\/(uuid|@langchain\/core\/dist\/utils\/uuid)/, "uuid"],
  [/node_modules\/(express|router|cors|finalhandler|path-to-regexp)/, "express"],
  [/node_modules/, "other packages"],
  [/bench\/graphs/, "the graph"],
  [/bench\//, "the benchmark"],
  [/(^src|\/dist)\/http\//, "ours: http"],
  [/(^src|\/dist)\/storage\//, "ours: storage"],
  [/(^src|\/dist)\/graphs\//, "ours: graphs"],
  [/(^src|\/dist)\/(frames|delivery)\//, "ours: frames"],
  [/(^src|\/dist)\/(context|threads|runs|coordination|operations|service)\//, "ours: engine"],
  [/(^src|\/dist)\//, "ours: support, models"],
  [/node:(_?http|net|stream|events|internal\/(stream|http|streams))/, "node: http and streams"],
  [/node:/, "node: other"],
];
const NATIVE: Record<string, string> = {
  "(garbage collector)": "garbage collection",
  "(program)": "native code and idle",
  "(idle)": "native code and idle",
};

const BUILT = /^file:(?!.*\/node_modules\/).*\/dist\/.*\.js$/;
const COMMENT = /^\/\/ ((?:src|node_modules)\/\S+)$/;

/** Functions by self time, descending; functions with the same name and location are merged. */
export function readProfile({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): ProfileEntry[] {
  const entries = new Map<string, ProfileEntry>();
  const entryOf = new Map<number, ProfileEntry>();
  for (const { id, callFrame } of nodes) {
    const name = callFrame.functionName || "(anonymous)";
    const place = callFrame.url === "" ? "" : `${shortUrl(callFrame.url)}:${callFrame.lineNumber + 1}`;
    const key = `${name} ${place}`;
    const entry = entries.get(key) ?? { part: partOf(name, sourceOf(callFrame)), name, place, ms: 0 };
    entries.set(key, entry);
    entryOf.set(id, entry);
  }
  samples.forEach((id, index) => {
    const entry = entryOf.get(id);
    if (entry) entry.ms += (timeDeltas[index] ?? 0) / 1000;
  });
  return [...entries.values()].sort((a, b) => b.ms - a.ms);
}

/** The source file of a bundled function, relative to the repository; for other functions, the URL of their file. */
function sourceOf({ url, lineNumber }: Runtime.CallFrame): string {
  if (!BUILT.test(url)) return url;
  return sourcesIn(url).findLast(({ line }) => line < lineNumber)?.source ?? url;
}

/** A source file in a bundled file, and the line before its code. */
interface Source {
  line: number;
  source: string;
}

const known = new Map<string, readonly Source[]>();

/** The bundler writes a comment before the code of each source file: `// src/http/server.ts`. */
function sourcesIn(url: string): readonly Source[] {
  let found = known.get(url);
  if (!found) {
    const lines = readFileSync(fileURLToPath(url), "utf8").split("\n");
    found = lines.flatMap((text, line) => {
      const source = COMMENT.exec(text)?.[1];
      return source === undefined ? [] : [{ line, source }];
    });
    known.set(url, found);
  }
  return found;
}

function partOf(name: string, url: string): string {
  if (url === "") return NATIVE[name] ?? "built into the engine";
  return PARTS.find(([pattern]) => pattern.test(url))?.[1] ?? "other";
}

const shortUrl = (url: string): string =>
  url.replace(/^.*node_modules\//, "").replace(/^file:.*\/(?=dist\/|bench\/)/, "");

/** Converts a CPU profile to functions with their self time, each assigned to a part of the system. */
import type { Profiler } from "node:inspector/promises";

export interface ProfileEntry {
  part: string;
  name: string;
  place: string;
  ms: number;
}

/** The first pattern that matches the URL of a function's file selects its part. */
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
  [/\/dist\/http\//, "ours: http"],
  [/\/dist\/storage\//, "ours: storage"],
  [/\/dist\/graphs\//, "ours: graphs"],
  [/\/dist\/(frames|delivery)\//, "ours: frames"],
  [/\/dist\/(context|threads|runs|coordination|operations|service)\//, "ours: engine"],
  [/\/dist\//, "ours: support, models"],
  [/node:(_?http|net|stream|events|internal\/(stream|http|streams))/, "node: http and streams"],
  [/node:/, "node: other"],
];
const NATIVE: Record<string, string> = {
  "(garbage collector)": "garbage collection",
  "(program)": "native code and idle",
  "(idle)": "native code and idle",
};

/** Functions by self time, descending; functions with the same name and location are merged. */
export function readProfile({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): ProfileEntry[] {
  const entries = new Map<string, ProfileEntry>();
  const entryOf = new Map<number, ProfileEntry>();
  for (const { id, callFrame } of nodes) {
    const name = callFrame.functionName || "(anonymous)";
    const place = callFrame.url === "" ? "" : `${shortUrl(callFrame.url)}:${callFrame.lineNumber + 1}`;
    const key = `${name} ${place}`;
    const entry = entries.get(key) ?? { part: partOf(name, callFrame.url), name, place, ms: 0 };
    entries.set(key, entry);
    entryOf.set(id, entry);
  }
  samples.forEach((id, index) => {
    const entry = entryOf.get(id);
    if (entry) entry.ms += (timeDeltas[index] ?? 0) / 1000;
  });
  return [...entries.values()].sort((a, b) => b.ms - a.ms);
}

function partOf(name: string, url: string): string {
  if (url === "") return NATIVE[name] ?? "built into the engine";
  return PARTS.find(([pattern]) => pattern.test(url))?.[1] ?? "other";
}

const shortUrl = (url: string): string =>
  url.replace(/^.*node_modules\//, "").replace(/^file:.*\/(?=dist\/|bench\/)/, "");

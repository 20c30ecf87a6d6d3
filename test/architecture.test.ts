/** Enforces the layers and conventions of the source tree; every failure names the offending file. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { readSourceTree, type Import } from "./helpers/source-tree.js";

/** The folders of the engine, in order: each may import those before it. */
const ENGINE = [
  "frames",
  "context",
  "threads",
  "runs",
  "delivery",
  "webhooks",
  "coordination",
  "scheduling",
  "operations",
];
const ENGINE_BASE = ["support", "models", "graphs", "storage", "tracing"];

function engineLayers(): Record<string, readonly string[]> {
  return Object.fromEntries(
    ENGINE.map((layer, index) => [layer, [...ENGINE_BASE, ...ENGINE.slice(0, index + 1)]]),
  );
}

/** Allowed imports by layer; a layer is a folder of src, or files at its top level. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  support: ["support"],
  models: ["support", "models"],
  view: ["models", "view"],
  config: ["support", "config"],
  graphs: ["support", "models", "graphs"],
  storage: ["support", "models", "storage"],
  tracing: ["support", "models", "tracing"],
  ...engineLayers(),
  service: ["support", "models", "config", "graphs", "storage", "tracing", ...ENGINE, "service"],
  mcp: ["support", "models", "view", "service", "mcp"],
  a2a: ["support", "models", "view", "service", "a2a"],
  http: ["support", "models", "service", "mcp", "a2a", "http"],
  // Lists read storage rows directly, without loading what a service loads.
  client: ["support", "models", "storage", "service", "client"],
  testing: ["support", "models", "config", "service", "client", "testing"],
  cli: [
    "support",
    "models",
    "view",
    "config",
    "tracing",
    "service",
    "mcp",
    "http",
    "client",
    "testing",
    "cli",
  ],
  index: ["support", "models", "config", "graphs", "storage", "service", "http"],
};
const FILES_AT_THE_TOP: Record<string, string> = { "index.ts": "index" };
/** Files that are loaded by path or exported by the package: no other file has to import them. */
const ENTRY_POINTS: readonly string[] = ["index.ts", "config/define.ts", "testing/index.ts", "cli/main.ts"];

/** The storage backends, one folder each, and the packages that only they may import. */
const BACKENDS: Record<string, readonly string[]> = {
  memory: [],
  sqlite: ["better-sqlite3"],
  postgres: ["pg", "pg-boss", "@langchain/langgraph-checkpoint-postgres"],
  mongodb: ["mongodb", "@langchain/langgraph-checkpoint-mongodb"],
  redis: ["redis"],
};
const PACKAGES_OF_BACKENDS = Object.values(BACKENDS).flat();
const MAX_FILES = 30;
const MAX_LINES = 500;
/** Files in the longest chain of imports, with those of types and without those on demand. */
const MAX_CHAIN = 24;
/** A shorter file belongs in the file that imports it. */
const MIN_LINES = 25;

const sources = readSourceTree(join(import.meta.dirname, "../src"));
const imports = sources.flatMap((source) => source.imports);
const files = new Set(sources.map(({ file }) => file));
const ownImports = imports.filter(({ to }) => files.has(to));

function layerOf(file: string): string {
  return file.includes("/") ? (file.split("/")[0] ?? "") : (FILES_AT_THE_TOP[file] ?? `unknown (${file})`);
}

function backendOf(file: string): string | undefined {
  return Object.keys(BACKENDS).find((name) => dirname(file) === `storage/${name}`);
}

const shown = ({ from, to }: Import): string => `${from} -> ${to}`;

/** Backend packages that are loaded when `file` is imported. */
function packagesLoadedWith(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  return imports
    .filter((one) => one.from === file && !one.isLazy && !one.isTypeOnly)
    .flatMap(({ to }) => (PACKAGES_OF_BACKENDS.includes(to) ? [to] : packagesLoadedWith(to, seen)));
}

type Lead = Pick<Import, "from" | "to">;

/** All files that `start` imports, directly or indirectly. */
function reachableFrom(
  start: string,
  leads: readonly Lead[] = ownImports,
  seen = new Set<string>(),
): Set<string> {
  for (const { to } of leads.filter(({ from }) => from === start)) {
    if (seen.has(to)) continue;
    seen.add(to);
    reachableFrom(to, leads, seen);
  }
  return seen;
}

/** The longest chain of imports that begins at `start`. Imports contain no cycle. */
function longestChain(
  start: string,
  leads: ReadonlyMap<string, readonly string[]>,
  known: Map<string, string[]>,
): string[] {
  const found = known.get(start);
  if (found) return found;
  const rests = (leads.get(start) ?? []).map((next) => longestChain(next, leads, known));
  const chain = [start, ...rests.reduce((longest, one) => (one.length > longest.length ? one : longest), [])];
  known.set(start, chain);
  return chain;
}

function groupBy(items: Iterable<string>, keyOf: (item: string) => string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** The layers that a cell of the table in docs/architecture.md names. */
function layersIn(cell: string, layer: string): string[] {
  if (cell === "nothing else") return [];
  return cell
    .split(", ")
    .flatMap((name) =>
      name === "engine folders above"
        ? ENGINE.slice(0, ENGINE.indexOf(layer))
        : name === "the engine"
          ? ENGINE
          : [name],
    );
}

describe("layers", () => {
  it("schemas are built without loading the modules of TypeBox", () => {
    const loading = imports.filter(({ to, isTypeOnly }) => to === "@sinclair/typebox" && !isTypeOnly);
    expect(loading.map(shown)).toEqual([]);
  });

  it("every file belongs to a known layer", () => {
    expect(sources.map(({ file }) => layerOf(file)).filter((layer) => !(layer in MAY_IMPORT))).toEqual([]);
  });

  it("relative imports stay inside src", () => {
    expect(imports.filter(({ to }) => to.startsWith("..")).map(shown)).toEqual([]);
  });

  it("docs/architecture.md lists the allowed imports", () => {
    const text = readFileSync(join(import.meta.dirname, "../docs/architecture.md"), "utf8");
    const rows = Array.from(
      text.matchAll(/^\| `src\/([a-z0-9]+)(?:\.ts)?` +\| .* \| ([^|]+?) +\|$/gm),
      ([, layer = "", others = ""]) => [layer, layersIn(others, layer)] as const,
    );
    const allowed = Object.entries(MAY_IMPORT).map(
      ([layer, others]) => [layer, others.filter((other) => other !== layer)] as const,
    );
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(allowed));
  });

  it("imports follow the layer table", () => {
    const strays = ownImports.filter(({ from, to }) => !MAY_IMPORT[layerOf(from)]?.includes(layerOf(to)));
    expect(strays.map(shown)).toEqual([]);
  });

  it("imports contain no cycle", () => {
    expect([...files].filter((file) => reachableFrom(file).has(file))).toEqual([]);
  });

  it(`no chain of imports is longer than ${MAX_CHAIN} files`, () => {
    const leads = new Map<string, string[]>();
    for (const { from, to, isLazy } of ownImports)
      if (!isLazy) leads.set(from, [...(leads.get(from) ?? []), to]);
    const known = new Map<string, string[]>();
    const chains = [...files].map((file) => longestChain(file, leads, known));
    expect(chains.find(({ length }) => length > MAX_CHAIN)).toBeUndefined();
  });

  it("imports between folders contain no cycle", () => {
    const leads = ownImports
      .map(({ from, to }) => ({ from: dirname(from), to: dirname(to) }))
      .filter(({ from, to }) => from !== to);
    const folders = new Set(leads.map(({ from }) => from));
    expect([...folders].filter((folder) => reachableFrom(folder, leads).has(folder))).toEqual([]);
  });

  it(`no folder has more than ${MAX_FILES} files`, () => {
    const folders = groupBy(files, dirname);
    const large = [...folders].filter(([, { length }]) => length > MAX_FILES).map(([folder]) => folder);
    expect(large).toEqual([]);
  });
});

describe("backends", () => {
  it("the engine does not import a storage backend", () => {
    const strays = ownImports.filter(({ from, to }) => ENGINE.includes(layerOf(from)) && backendOf(to));
    expect(strays.map(shown)).toEqual([]);
  });

  it("no backend imports another", () => {
    const strays = ownImports.filter(({ from, to }) => {
      const [own, other] = [backendOf(from), backendOf(to)];
      return own && other && own !== other;
    });
    expect(strays.map(shown)).toEqual([]);
  });

  it("packages of a backend are imported only by that backend", () => {
    const strays = imports.filter(({ from, to }) =>
      Object.entries(BACKENDS).some(([name, packages]) => packages.includes(to) && backendOf(from) !== name),
    );
    expect(strays.map(shown)).toEqual([]);
  });

  it("backends with packages are imported lazily", () => {
    const eager = ownImports.filter(({ isLazy, isTypeOnly }) => !isLazy && !isTypeOnly);
    const strays = eager.filter(({ from, to }) => !backendOf(from) && packagesLoadedWith(to).length > 0);
    expect(strays.map(shown)).toEqual([]);
  });
});

describe("conventions", () => {
  it("no file exports a default", () => {
    expect(sources.filter(({ hasDefaultExport }) => hasDefaultExport).map(({ file }) => file)).toEqual([]);
  });

  it("no file uses the type any", () => {
    expect(sources.flatMap(({ file, anyLines }) => anyLines.map((line) => `${file}:${line}`))).toEqual([]);
  });

  it(`no file is longer than ${MAX_LINES} lines`, () => {
    expect(sources.filter(({ lines }) => lines > MAX_LINES).map(({ file }) => file)).toEqual([]);
  });

  it(`no file of fewer than ${MIN_LINES} lines has a single importer`, () => {
    const importersOf = (file: string) =>
      new Set(ownImports.filter(({ to }) => to === file).map(({ from }) => from));
    const small = sources.filter(({ file, lines }) => lines < MIN_LINES && !ENTRY_POINTS.includes(file));
    expect(small.filter(({ file }) => importersOf(file).size === 1).map(({ file }) => file)).toEqual([]);
  });

  it("docs/architecture.md names methods that exist", () => {
    const text = readFileSync(join(import.meta.dirname, "../docs/architecture.md"), "utf8");
    const named = [...text.matchAll(/`(\w+)\.(#?\w+)` in `(src\/[^`]+)`/g)];
    expect(named.length).toBeGreaterThan(0);
    const missing = named.filter(([, name = "", method = "", file = ""]) => {
      const source = readFileSync(join(import.meta.dirname, "..", file), "utf8");
      const body = source.split(new RegExp(`^export class ${name}\\b`, "m"))[1]?.split(/^}/m)[0] ?? "";
      return !new RegExp(`^  (?:async )?${method}\\(`, "m").test(body);
    });
    expect(missing.map(([shown]) => shown)).toEqual([]);
  });

  it("only src/runs/state.ts sets the state, owner or attempt of a run", () => {
    const setter = /\b(?:state: "(?:delayed|queued|running|ended|dead)"|owner: null,)/;
    // Stores runs of a file, which have ended.
    const setters = ["runs/state.ts", "threads/thread-transfer.ts"];
    const inEngine = sources.filter(({ file }) => ENGINE.includes(layerOf(file)));
    const found = inEngine.filter(({ file }) =>
      setter.test(readFileSync(join(import.meta.dirname, "../src", file), "utf8")),
    );
    expect(found.map(({ file }) => file)).toEqual(setters);
  });
});

/** Enforces the layers and the habits of the source tree; every failure names the file that strays. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { readSourceTree, type Import } from "./helpers/source-tree.js";

/** Who may import whom; a layer is a folder of src, or a file or two at its top. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  support: ["support"],
  models: ["models"],
  view: ["models", "view"],
  config: ["support", "config"],
  graphs: ["support", "models", "graphs"],
  storage: ["support", "models", "storage"],
  ops: ["support", "models", "graphs", "storage", "ops"],
  service: ["support", "models", "config", "graphs", "storage", "ops", "service"],
  mcp: ["support", "models", "view", "service", "mcp"],
  a2a: ["support", "models", "view", "service", "a2a"],
  http: ["support", "models", "service", "mcp", "a2a", "http"],
  // Lists are read from the rows of a storage, without what a service loads.
  client: ["support", "models", "storage", "service", "client"],
  testing: ["support", "models", "config", "service", "client", "testing"],
  cli: ["support", "models", "view", "config", "service", "mcp", "http", "client", "testing", "cli"],
  index: ["support", "models", "config", "graphs", "storage", "service", "http"],
};
const FILES_AT_THE_TOP: Record<string, string> = {
  "auth-hook.ts": "service",
  "http-app.ts": "service",
  "migration.ts": "service",
  "service.ts": "service",
  "service-facts.ts": "service",
  "service-options.ts": "service",
  "service-parts.ts": "service",
  "user-hooks.ts": "service",
  "index.ts": "index",
};
/** Files that are loaded by their path or are what the package exports: nothing else need import them. */
const ENTRY_POINTS: readonly string[] = ["index.ts", "config/define.ts", "testing/index.ts", "cli/main.ts"];

/** The storage backends, a folder each, and the packages that only it may import. */
const BACKENDS: Record<string, readonly string[]> = {
  memory: [],
  sqlite: ["better-sqlite3"],
  postgres: ["pg", "@langchain/langgraph-checkpoint-postgres"],
  mongodb: ["mongodb", "@langchain/langgraph-checkpoint-mongodb"],
  redis: ["redis"],
};
const PACKAGES_OF_BACKENDS = Object.values(BACKENDS).flat();
const MAX_LINES = 500;
/** A shorter file stands with the one that imports it. */
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

/** The packages of backends that come along when `file` is imported. */
function packagesLoadedWith(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  return imports
    .filter((one) => one.from === file && !one.isLazy && !one.isTypeOnly)
    .flatMap(({ to }) => (PACKAGES_OF_BACKENDS.includes(to) ? [to] : packagesLoadedWith(to, seen)));
}

type Lead = Pick<Import, "from" | "to">;

/** Everything that `start` leads to, by whatever imports. */
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

/** A folder of the command line, or a file beside the folders. */
const roomOf = (file: string): string => file.split("/").slice(0, 2).join("/");

describe("layers", () => {
  it("every file belongs to a known layer", () => {
    expect(sources.map(({ file }) => layerOf(file)).filter((layer) => !(layer in MAY_IMPORT))).toEqual([]);
  });

  it("relative imports stay inside src", () => {
    expect(imports.filter(({ to }) => to.startsWith("..")).map(shown)).toEqual([]);
  });

  it("docs/architecture.md says who may import whom", () => {
    const text = readFileSync(join(import.meta.dirname, "../docs/architecture.md"), "utf8");
    const rows = Array.from(
      text.matchAll(/^\| `src\/([a-z0-9]+)(?:\.ts)?` +\| .* \| ([^|]+?) +\|$/gm),
      ([, layer = "", others = ""]) => [layer, others === "nothing else" ? [] : others.split(", ")] as const,
    );
    const allowed = Object.entries(MAY_IMPORT).map(
      ([layer, others]) => [layer, others.filter((other) => other !== layer)] as const,
    );
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(allowed));
  });

  it("imports follow the table of layers", () => {
    const strays = ownImports.filter(({ from, to }) => !MAY_IMPORT[layerOf(from)]?.includes(layerOf(to)));
    expect(strays.map(shown)).toEqual([]);
  });

  it("imports form no cycle", () => {
    expect([...files].filter((file) => reachableFrom(file).has(file))).toEqual([]);
  });

  it("imports between the rooms of the command line form no cycle", () => {
    const leads = ownImports
      .filter(({ from, to }) => layerOf(from) === "cli" && layerOf(to) === "cli")
      .map(({ from, to }) => ({ from: roomOf(from), to: roomOf(to) }))
      .filter(({ from, to }) => from !== to);
    const rooms = new Set(leads.map(({ from }) => from));
    expect([...rooms].filter((room) => reachableFrom(room, leads).has(room))).toEqual([]);
  });
});

describe("backends", () => {
  it("ops know no storage backend", () => {
    const strays = ownImports.filter(({ from, to }) => layerOf(from) === "ops" && backendOf(to));
    expect(strays.map(shown)).toEqual([]);
  });

  it("no backend imports another", () => {
    const strays = ownImports.filter(({ from, to }) => {
      const [own, other] = [backendOf(from), backendOf(to)];
      return own && other && own !== other;
    });
    expect(strays.map(shown)).toEqual([]);
  });

  it("packages of a backend stay in it", () => {
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

describe("habits", () => {
  it("no file exports a default", () => {
    expect(sources.filter(({ hasDefaultExport }) => hasDefaultExport).map(({ file }) => file)).toEqual([]);
  });

  it("no file uses the type any", () => {
    expect(sources.flatMap(({ file, anyLines }) => anyLines.map((line) => `${file}:${line}`))).toEqual([]);
  });

  it(`no file is longer than ${MAX_LINES} lines`, () => {
    expect(sources.filter(({ lines }) => lines > MAX_LINES).map(({ file }) => file)).toEqual([]);
  });

  it(`no file of fewer than ${MIN_LINES} lines serves one other alone`, () => {
    const importersOf = (file: string) =>
      new Set(ownImports.filter(({ to }) => to === file).map(({ from }) => from));
    const small = sources.filter(({ file, lines }) => lines < MIN_LINES && !ENTRY_POINTS.includes(file));
    expect(small.filter(({ file }) => importersOf(file).size === 1).map(({ file }) => file)).toEqual([]);
  });
});

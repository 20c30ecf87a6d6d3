import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { GraphConfig, LoadedGraph, ServedGraph } from "../../src/graphs/graph.js";
import { loadGraph } from "../../src/graphs/load.js";

const baseDir = resolve(import.meta.dirname, "../fixtures");
const load = (file: string, exportName?: string) =>
  loadGraph({ path: join(baseDir, file), exportName }, { baseDir });

interface Runnable {
  invoke(input: unknown, config?: GraphConfig): Promise<unknown>;
}

async function graphOf(loaded: LoadedGraph, config: GraphConfig = {}): Promise<ServedGraph & Runnable> {
  if (loaded.kind === "fault") throw loaded.fault;
  const graph = loaded.kind === "graph" ? loaded.graph : await loaded.factory(config);
  return graph as ServedGraph & Runnable;
}

describe("module formats", () => {
  test.each([
    "esm/graph.js",
    "esm/graph.mjs",
    "esm/imports-typescript.js",
    "esm/typescript.ts",
    "esm/typescript.mts",
  ])("%s loads in an ESM project", async (file) => {
    const { loaded } = await load(`projects/${file}`);
    expect(await (await graphOf(loaded)).invoke({ n: 1 })).toEqual({ n: 2 });
  });

  test.each(["cjs/graph.cjs", "cjs/graph.js", "cjs/graph.cts"])(
    "%s loads in a CommonJS project",
    async (file) => {
      const { loaded, exportName } = await load(`projects/${file}`);
      expect(exportName).toBe("graph");
      expect(await (await graphOf(loaded)).invoke({ n: 1 })).toEqual({ n: 2 });
    },
  );

  test("path aliases, decorators, JSX, enums and JSON imports work", async () => {
    const { loaded, files } = await load("projects/paths/graph.ts");
    expect(await (await graphOf(loaded)).invoke({ words: [] })).toEqual({
      words: ["hello!"],
      registry: ["Writer"],
    });
    expect(files.map((file) => file.slice(join(baseDir, "projects/paths/").length)).sort()).toEqual([
      "graph.ts",
      "lib/names.ts",
      "lib/shout.tsx",
      "settings.json",
    ]);
  });

  test("packages keep their identity across loads", async () => {
    const ours = (await import("@langchain/langgraph")).CompiledStateGraph;
    for (let round = 0; round < 2; round += 1) {
      const { loaded } = await load("graphs/chat.ts");
      expect(await graphOf(loaded)).toBeInstanceOf(ours);
    }
  });
});

describe("export kinds", () => {
  test("a compiled graph is served unchanged", async () => {
    const result = await load("graphs/chat.ts");
    expect(result).toMatchObject({
      exportName: "graph",
      notices: [],
      loaded: { kind: "graph", source: "./graphs/chat.ts:graph" },
    });
    expect(result.files).toEqual([join(baseDir, "graphs/chat.ts"), join(baseDir, "fake-model.ts")]);
  });

  test("a functional entrypoint is a graph", async () => {
    const { loaded } = await load("graphs/functional.ts");
    expect(await (await graphOf(loaded)).invoke({ n: 2 })).toBe("twice is 4");
  });

  test("the wrapper of createAgent is unwrapped", async () => {
    const graph = await graphOf((await load("graphs/agent.ts")).loaded);
    const { messages } = (await graph.invoke({ messages: "2 + 3?" })) as { messages: { text: string }[] };
    expect(messages.map((message) => message.text)).toEqual(["2 + 3?", "", "5", "The sum is 5"]);
    expect(Object.keys(graph.channels ?? {})).toContain("messages");
  });

  test("a builder is compiled with a notice", async () => {
    const { loaded, notices } = await load("projects/agents/shapes.ts", "builder");
    expect(await (await graphOf(loaded)).invoke({ n: 1 })).toEqual({ n: 2, by: "builder" });
    expect(notices).toEqual([
      "./projects/agents/shapes.ts:builder was not compiled: compiled it without options",
    ]);
  });

  test("a factory is called with the config", async () => {
    const { loaded } = await load("projects/agents/shapes.ts", "makeGraph");
    expect(loaded.kind).toBe("factory");
    const graph = await graphOf(loaded, { configurable: { by: "me" } });
    expect(await graph.invoke({ n: 1 })).toEqual({ n: 2, by: "me" });
  });

  test.each(["graph", "uncompiled", "factory", "agent", "slow", "thenable"])(
    "a promise is awaited: %s",
    async (name) => {
      const { loaded, exportName } = await load("graphs/promises.ts", name);
      expect(exportName).toBe(name);
      expect(await (await graphOf(loaded)).invoke({ n: 1 })).toEqual({ n: 2 });
    },
  );

  test("a promise is found under the default export names", async () => {
    expect((await load("graphs/promises.ts")).exportName).toBe("graph");
    expect((await load("projects/cjs/promise.cjs")).exportName).toBe("default");
  });

  test.each([
    ["makeLater", "later"],
    ["makeWrapper", "made wrapper"],
  ])("factory %s may return builders and wrappers", async (name, by) => {
    const { loaded } = await load("projects/agents/shapes.ts", name);
    expect(await (await graphOf(loaded)).invoke({ n: 1 })).toEqual({ n: 2, by });
  });

  test("a graph with its own checkpointer causes a notice", async () => {
    const { notices } = await load("projects/agents/shapes.ts", "withSaver");
    expect(notices).toEqual([
      "./projects/agents/shapes.ts:withSaver was compiled with its own checkpointer (MemorySaver): " +
        "the storage of the server is used instead",
    ]);
  });
});

describe("reloading", () => {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "graph-serve-load-"));
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const write = (file: string, text: string) => writeFile(join(folder, file), text);
  const reload = async (file: string, exportName?: string) => {
    const { loaded } = await loadGraph({ path: join(folder, file), exportName }, { baseDir: folder });
    return (await graphOf(loaded)) as unknown as { value: unknown };
  };
  const fakeGraph = (value: string) => `{ stream() {}, getState() {}, withConfig() {}, value: ${value} }`;

  test.each([
    ["graph.mjs", "dep.mjs", "export const dep ="],
    ["graph.js", "dep.cjs", "exports.dep ="],
    ["graph.ts", "dep.ts", "export const dep: string ="],
    ["graph.ts", "dep.mjs", "export const dep ="],
    ["graph.mts", "dep.cjs", "exports.dep ="],
  ])("%s sees changes of its %s", async (file, dependency, declaration) => {
    await write(file, `import { dep } from "./${dependency}"; export const graph = ${fakeGraph("dep")};`);
    for (const value of ["one", "two", "three"]) {
      await write(dependency, `${declaration} "${value}";`);
      expect((await reload(file)).value).toBe(value);
    }
  });

  test("a changed JSON import is read again", async () => {
    await write("graph.ts", `import data from "./data.json"; export const graph = ${fakeGraph("data.n")};`);
    for (const n of [1, 2]) {
      await write("data.json", JSON.stringify({ n }));
      expect((await reload("graph.ts")).value).toBe(n);
    }
  });

  test("a CommonJS graph is evaluated again", async () => {
    for (const n of [1, 2]) {
      await write("graph.cjs", `exports.graph = ${fakeGraph(String(n))};`);
      expect((await reload("graph.cjs")).value).toBe(n);
    }
  });

  test("a corrected file loads after a syntax error", async () => {
    await write("graph.mjs", "export const graph = ;");
    await expect(reload("graph.mjs")).rejects.toThrow("syntax error in ./graph.mjs:1");
    await write("graph.mjs", `export const graph = ${fakeGraph("1")};`);
    expect((await reload("graph.mjs")).value).toBe(1);
  });

  test.each(["ts", "mjs"])("two graphs of a project share their .%s modules", async (extension) => {
    await write(`shared.${extension}`, "export const shared = {};");
    const names = [`a.${extension}`, `b.${extension}`];
    for (const name of names) {
      await write(
        name,
        `import { shared } from "./shared.${extension}"; export const graph = ${fakeGraph("shared")};`,
      );
    }
    const before = [];
    for (const name of names) before.push((await reload(name)).value);
    const after = [];
    for (const name of names) after.push((await reload(name)).value);
    expect(before[0]).toBe(before[1]);
    expect(after[0]).toBe(after[1]);
    expect(after[0]).not.toBe(before[0]);
  });
});

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cli, type CliResult } from "./harness.js";
import { seedProject, type Seeded } from "./seeded.js";

let seeded: Seeded;
beforeEach(async () => {
  seeded = await seedProject();
});
afterEach(() => seeded.project.remove());

const read = (argv: string[]): Promise<CliResult> => cli(argv, { cwd: seeded.project.dir });

interface Card {
  thread: { status: string; values: object; interrupts: object };
  state: { next: string[]; tasks: { name: string; error: string | null; interrupts: { id: string }[] }[] };
}
const cardOf = async (thread: string, ...flags: string[]): Promise<{ card: Card; stderr: string }> => {
  const { code, stdout, stderr } = await read(["inspect", "thread", thread, "--json", ...flags]);
  expect({ code, stdout }).toMatchObject({ code: 0 });
  return { card: JSON.parse(stdout) as Card, stderr };
};

const HIDDEN = /^warn {2}values hidden: the graph does not load \(.+\); --raw shows them$/m;

describe("reading without a loadable graph", () => {
  it.each([
    ["has a syntax error", (dir: string) => [dir, "export const graph = ("] as const],
    ["throws", (dir: string) => [dir, "throw new Error('at import');"] as const],
    ["exports no graph", (dir: string) => [dir, "export const graph = 1;"] as const],
    [
      "throws in its factory",
      (dir: string) => [dir, "export function graph() { throw new Error('no key'); }"] as const,
    ],
  ])("inspect thread works if the graph module %s", async (_, content) => {
    await seeded.project.put("graph.ts", content("")[1]);
    const { card, stderr } = await cardOf(seeded.chat);
    expect(stderr).toMatch(HIDDEN);
    expect(card.thread).toMatchObject({ status: "idle", values: {} });
  });

  it("inspect thread works if the graph module is missing", async () => {
    await rm(join(seeded.project.dir, "ask.ts"));
    const { card, stderr } = await cardOf(seeded.asking);
    expect(stderr).toMatch(HIDDEN);
    expect(card.state.next).toEqual(["ask"]);
    expect(Object.values(card.thread.interrupts)).toMatchObject([[{ value: { question: "about cats?" } }]]);
  });

  it("a thread has the same tasks, questions and errors without its graph", async () => {
    const [asking, failed] = [await cardOf(seeded.asking), await cardOf(seeded.failed)];
    for (const name of ["ask.ts", "fail.ts"]) await rm(join(seeded.project.dir, name));
    const [bareAsking, bareFailed] = [await cardOf(seeded.asking), await cardOf(seeded.failed)];
    expect(bareAsking.card.state.tasks).toEqual(asking.card.state.tasks);
    expect(bareFailed.card.state.tasks).toEqual(failed.card.state.tasks);
  });

  it("--raw shows the values and prints a warning", async () => {
    await rm(join(seeded.project.dir, "vault.ts"));
    const { card, stderr } = await cardOf(seeded.vault, "--raw");
    expect(card.thread.values).toEqual({ n: 2, secret: "classified" });
    expect(stderr).toBe("warn  --raw: the output includes state keys that are hidden from clients\n");
  });

  it("a thread of an unconfigured graph shows only configured keys and prints a warning", async () => {
    const graphs = { agent: "./graph.ts", safe: "./vault.ts" };
    await seeded.project.put("graph-server.config.json", JSON.stringify({ graphs }));
    const { stderr } = await cardOf(seeded.vault);
    expect(stderr).toBe(
      'warn  graph "vault" is not configured: only state keys visible in a configured graph are shown\n',
    );
    const { stdout } = await read(["export", seeded.vault]);
    expect(stdout).toContain('"n":2');
    expect(stdout).not.toContain("classified");
    expect((await read(["export", seeded.vault, "--raw"])).stdout).toContain("classified");
    expect((await cardOf(seeded.chat)).stderr).toBe("");
  });

  it("inspect thread works without a configuration", async () => {
    await rm(join(seeded.project.dir, "graph-server.config.json"));
    const { card, stderr } = await cardOf(seeded.chat);
    expect(card.thread.status).toBe("idle");
    expect(stderr).toContain("(no graph is configured)");
    const uri = ["--checkpointer-uri", ".graph-serve/dev.db"];
    const raw = await read([
      "inspect",
      "state",
      seeded.chat,
      "--path",
      "messages[-1].content",
      "--raw",
      ...uri,
    ]);
    expect(raw.stdout).toBe("echo: other two\n");
  });

  it("history works after a schema change", async () => {
    const before = (await read(["history", seeded.vault, "--json"])).stdout;
    await seeded.project.put(
      "vault.ts",
      `import { Annotation, START, StateGraph } from "@langchain/langgraph";
      const State = Annotation.Root({ n: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }), other: Annotation<number> });
      export const graph = new StateGraph(State).addNode("renamed", () => ({})).addEdge(START, "renamed").compile();`,
    );
    const { code, stdout } = await read(["history", seeded.vault, "--json"]);
    expect(code).toBe(0);
    const ids = (text: string) =>
      (JSON.parse(text) as { items: { checkpoint: object }[] }).items.map(({ checkpoint }) => checkpoint);
    expect(ids(stdout)).toEqual(ids(before));
    expect((await read(["inspect", "thread", seeded.vault])).code).toBe(0);
  });

  const FILES = ["graph.ts", "ask.ts", "fail.ts", "vault.ts"];
  const every = (content: string) => async (): Promise<void> => {
    for (const name of FILES) await seeded.project.put(name, content);
  };
  const changed = `import { Annotation, START, StateGraph } from "@langchain/langgraph";
    const other = Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] });
    const State = Annotation.Root({ messages: Annotation<number>, topic: other, n: other, other });
    export const graph = new StateGraph(State).addNode("renamed", () => ({})).addEdge(START, "renamed").compile();`;

  const RAW = expect.stringMatching(/^--raw shows/) as string;
  const isOnlyValues = ([command = "", sub]: string[]) =>
    ["diff", "export"].includes(command) || sub === "state";
  const readingOne = (thread: string): string[][] => [
    ["inspect", "thread", thread],
    ["inspect", "thread", thread, "--full"],
    ["runs", "list", thread],
    ["inspect", "checkpoint", thread, "--writes"],
    ["inspect", "state", thread],
    ["inspect", "state", thread, "--checkpoint", "-2"],
    ["history", thread],
    ["replay", thread],
    ["replay", thread, "--format", "html"],
    ["diff", `${thread}@-2`, thread],
    ["export", thread],
  ];
  const readingMore = (): string[][] => [
    ["threads", "list"],
    ["threads", "list", "--status", "interrupted"],
    ["threads", "prune", "--older-than", "30d", "--dry-run"],
    ["inspect", "run", seeded.run],
    ["inspect", "run", seeded.run, "--thread", seeded.chat],
    ["inspect", "checkpoint", seeded.chat, seeded.fork],
    ["history", seeded.chat, "--run", seeded.run],
    ["recover"],
  ];

  describe.each<[string, () => Promise<void>]>([
    ["do not load", every("syntax error")],
    ["throw", every("throw new Error('at import');")],
    [
      "are missing",
      () => Promise.all(FILES.map((name) => rm(join(seeded.project.dir, name)))).then(() => undefined),
    ],
    ["have changed schemas", every(changed)],
    ["are not configured", () => rm(join(seeded.project.dir, "graph-server.config.json"))],
  ])("graphs that %s", (_, spoil) => {
    it("every read command works, or says that --raw shows the values", async () => {
      await spoil();
      const threads = [seeded.chat, seeded.asking, seeded.failed];
      for (const argv of [...threads.flatMap(readingOne), ...readingMore()]) {
        for (const raw of /^(recover|runs)$/.test(argv[0] ?? "") || argv[1] === "prune"
          ? [[]]
          : [[], ["--raw"]]) {
          const call = [...argv, ...raw, "--json"];
          const { code, stdout } = await read(call);
          if (code === 2 && isOnlyValues(argv) && raw.length === 0)
            expect(JSON.parse(stdout)).toMatchObject({ error: { code: "graph_not_loaded", hint: RAW } });
          else
            expect({ call, code, stdout: code === 0 ? "" : stdout }).toEqual({ call, code: 0, stdout: "" });
          expect(() => JSON.parse(stdout) as unknown, call.join(" ")).not.toThrow();
        }
      }
    });

    it("commands that need the graph work or exit with code 2, without a stack trace", async () => {
      await spoil();
      const needs = [
        ["graph", "--thread", seeded.chat],
        ["schemas"],
        ["state", "set", seeded.chat, "--values", "[1]"],
      ];
      for (const argv of needs) {
        const { code, stdout, stderr } = await read([...argv, "--json"]);
        const works = code === 0 && (JSON.parse(stdout) as { graph_id?: string }).graph_id !== undefined;
        expect({ argv, code: works ? 2 : code, stack: /^ +at /m.test(stderr) }).toEqual({
          argv,
          code: 2,
          stack: false,
        });
      }
    });
  });

  it("threads can be patched and deleted if no graph loads", async () => {
    for (const name of ["graph.ts", "ask.ts", "fail.ts", "vault.ts"])
      await seeded.project.put(name, "syntax error");
    expect((await read(["threads", "patch", seeded.chat, "--metadata", "seen=true"])).code).toBe(0);
    expect((await read(["threads", "delete", seeded.chat, "--yes"])).code).toBe(0);
    expect((await read(["inspect", "thread", seeded.chat])).code).toBe(4);
  });
});

describe("the output filter", () => {
  it("keys outside the output schema are hidden", async () => {
    for (const argv of [
      ["threads", "list"],
      ["inspect", "thread", seeded.vault],
      ["inspect", "thread", seeded.vault, "--full"],
      ["inspect", "checkpoint", seeded.vault, "0", "--writes"],
      ["history", seeded.vault],
      ["diff", `${seeded.vault}@0`, seeded.vault],
    ]) {
      for (const form of [[], ["--json"]]) {
        const { stdout } = await read([...argv, ...form]);
        expect({ argv, hidden: /classified|secret/.test(stdout) }).toEqual({ argv, hidden: false });
      }
    }
  });

  it("--raw shows keys outside the output schema offline", async () => {
    const { stdout, stderr } = await read(["inspect", "state", seeded.vault, "--raw"]);
    expect(JSON.parse(stdout)).toEqual({ n: 2, secret: "classified" });
    expect(stderr).toContain("--raw");
  });
});

import { afterEach, beforeEach, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import type { RunReport } from "../../src/cli/run/outcome.js";
import type { ThreadState } from "../../src/models/state.js";
import type { Thread } from "../../src/models/thread.js";
import { startCli } from "./harness.js";
import { chatGraph, createThreadProject, type ThreadProject } from "./thread-fixture.js";

let project: ThreadProject;
beforeEach(async () => {
  project = await createThreadProject();
});
afterEach(() => project.remove());

interface ForkDocument {
  thread_id: string;
  checkpoint_id: string | null;
  thread: Thread;
  run: RunReport | null;
}

const fork = (...argv: string[]) => project.json<ForkDocument>(["fork", project.threadId, ...argv]);
const history = async (threadId: string) =>
  (await project.json<{ items: ThreadState[] }>(["history", threadId])).document.items;
const texts = (values: unknown) =>
  (values as { messages: { content: string }[] }).messages.map(({ content }) => content);

describe("fork", () => {
  it("the latest state is forked with its open question", async () => {
    const { code, document } = await fork();
    expect(code).toBe(0);
    expect(document.thread_id).not.toBe(project.threadId);
    expect(document.thread.metadata.forked_from).toBe(project.threadId);
    const [state] = await history(document.thread_id);
    expect(state?.next).toEqual(["pay"]);
    expect(state?.interrupts.map(({ value }) => value)).toEqual([{ question: "how much?" }]);
  });

  it("an earlier checkpoint is forked with its values", async () => {
    const before = await history(project.threadId);
    const { document } = await fork("--checkpoint", "1");
    const states = await history(document.thread_id);
    expect(states).toHaveLength(1);
    expect(texts(states[0]?.values)).toEqual(["hello", "echo: hello"]);
    expect(await history(project.threadId)).toEqual(before);
  });

  it("--run runs the fork from its checkpoint", async () => {
    const [, , input] = (await history(project.threadId)).filter(
      ({ metadata }) => metadata.source === "input",
    );
    const { code, document } = await fork("--checkpoint", input?.checkpoint?.checkpoint_id ?? "", "--run");
    expect([code, document.run?.status]).toEqual([0, "success"]);
    expect(texts(document.run?.values)).toEqual(["hello", "echo: hello"]);
  });

  it("--values are written before the run", async () => {
    const { document } = await fork(
      "--checkpoint",
      "1",
      "--values",
      '{"count": 40}',
      "--as-node",
      "__start__",
      "--run",
    );
    expect(document.run?.values).toMatchObject({ count: 41 });
  });

  it("--branch creates a branch on the same thread", async () => {
    const before = await history(project.threadId);
    const { document } = await fork(
      "--branch",
      "--checkpoint",
      "1",
      "--values",
      '{"count": 7}',
      "--as-node",
      "reply",
    );
    expect(document.thread_id).toBe(project.threadId);
    const after = await history(project.threadId);
    expect(after).toHaveLength(before.length + 1);
    expect(after[0]?.checkpoint?.checkpoint_id).toBe(document.checkpoint_id);
    expect(after[0]?.values).toMatchObject({ count: 7 });
  });

  it("text output has the id and the next command", async () => {
    const { stdout, stderr } = await project.run(["fork", project.threadId]);
    expect(stdout).toMatch(/^[0-9a-f-]{36}\n$/);
    expect(stderr).toContain(`--thread ${stdout.trim()} --resume true`);
  });

  it.each<[string[], number, string]>([
    [["fork", "0198c0de-0000-7000-8000-00000000dead"], 4, "thread_not_found"],
    [["fork", "THREAD", "--checkpoint", "99"], 4, "checkpoint_not_found"],
    [["fork", "THREAD", "--values", "{"], 2, "invalid_request"],
    [["fork", "THREAD", "--values", "3"], 2, "invalid_request"],
    [["fork", "THREAD", "--values", "{}", "--as-node", "missing"], 2, "invalid_request"],
    [["state", "set", "THREAD"], 2, "invalid_request"],
    [["state", "set", "0198c0de-0000-7000-8000-00000000dead", "--values", "{}"], 4, "thread_not_found"],
    [["replay", "THREAD", "--execute", "--exit-code"], 2, "invalid_request"],
    [["replay", "THREAD", "--execute", "--against", "./none.ts"], 2, "graph_load_failed"],
  ])("%j exits with code %i", async (argv, exit, code) => {
    const words = argv.map((word) => (word === "THREAD" ? project.threadId : word));
    const result = await project.json<{ error: { code: string } }>(words);
    expect([result.code, result.document.error.code]).toEqual([exit, code]);
  });

  it.each<[string, string[]]>([
    ["fork --run", ["fork", "THREAD", "--run"]],
    ["replay --execute", ["replay", "THREAD", "--execute"]],
  ])("%s runs no other graph if the thread's graph is not configured", async (_, argv) => {
    await project.put("graph-server.config.json", { graphs: { other: "./graph.ts:graph" } });
    const threads = async () => (await project.run(["threads", "list"])).stdout;
    const before = await threads();
    const words = argv.map((word) => (word === "THREAD" ? project.threadId : word));
    const { code, document } = await project.json<{ error: { code: string; message: string } }>(words);
    expect({ code, error: document.error }).toMatchObject({
      code: 4,
      error: { code: "assistant_not_found" },
    });
    expect(document.error.message).toMatch(/^the thread ran on graph "\w+", which is not configured$/);
    expect(await threads()).toBe(before);
  });

  it("rejected values leave no copy", async () => {
    const count = async () =>
      (await project.json<{ items: unknown[] }>(["threads", "list"])).document.items.length;
    const before = await count();
    expect((await fork("--values", "{}", "--as-node", "missing")).code).toBe(2);
    expect(await count()).toBe(before);
  });
});

describe("calls that would have no effect", () => {
  const idle = async () =>
    (await project.json<{ thread_id: string }>(["run", "--message", "hello"])).document.thread_id;

  it.each<[string, string[], number, RegExp]>([
    [
      "an answer without a question",
      ["run", "--thread", "IDLE", "--resume", "1"],
      2,
      /has no open interrupt/,
    ],
    [
      "input with unknown keys",
      ["run", "--input", '{"zz":1}'],
      2,
      /input has no key zz[^]*its keys are: .*messages/,
    ],
    ["an unknown namespace", ["inspect", "state", "IDLE", "--ns", "none:1"], 2, /in the namespace "none:1"/],
    [
      "a missing folder",
      ["threads", "list", "--cwd", "./nowhere"],
      2,
      /--cwd is not an existing folder: .*nowhere/,
    ],
    ["a missing file", ["diff", "one.json", "two.json"], 2, /file .*one\.json does not exist/],
  ])("%s is rejected", async (_, argv, code, message) => {
    const thread = await idle();
    const ended = await project.run(argv.map((word) => (word === "IDLE" ? thread : word)));
    expect(ended).toMatchObject({ code, stdout: "" });
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr).not.toMatch(/^ +at /m);
  });

  it("input with one unknown key runs and causes a warning", async () => {
    const { code, stderr } = await project.run(["run", "--input", '{"messages":["hi"],"zz":1}']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warn {2}the graph's input has no key zz, which is ignored; its keys are: .*$/m);
  });
});

describe("a key outside the graph's state", () => {
  it.each([[["state", "set"]], [["fork"]]])("%j rejects the key and writes nothing", async (command) => {
    const stored = async () => [
      (await project.run(["history", project.threadId, "--json"])).stdout,
      (await project.run(["threads", "list", "--json"])).stdout,
    ];
    const before = await stored();
    const argv = [...command, project.threadId, "--values", '{"count": 1, "mesages": []}'];
    const { code, stdout, stderr } = await project.run(argv);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(
      /^error {2}the state of graph "\w+" has no key mesages\n {2}fix {2}did you mean "messages"\?\n$/,
    );
    expect(await stored()).toEqual(before);
  });
});

describe("state set", () => {
  it("an unknown node is refused with the nodes of the graph", async () => {
    const argv = ["state", "set", project.threadId, "--values", "{}", "--as-node", "relpy"];
    const { code, stderr } = await project.run(argv);
    expect([code, stderr]).toEqual([
      2,
      'error  body.as_node: there is no node "relpy", did you mean "reply"?; the nodes are reply, pay\n',
    ]);
  });

  it("values pass through the reducers", async () => {
    const { code, document } = await project.json<{ checkpoint_id: string }>([
      "state",
      "set",
      project.threadId,
      "--values",
      '{"count": 9, "messages": [{"role": "user", "content": "by hand"}]}',
      "--as-node",
      "reply",
    ]);
    expect(code).toBe(0);
    const [state] = await history(project.threadId);
    expect(state?.checkpoint?.checkpoint_id).toBe(document.checkpoint_id);
    expect(state?.values).toMatchObject({ count: 9 });
    expect(texts(state?.values)).toEqual(["hello", "echo: hello", "pay 5", "echo: pay 5", "by hand"]);
  });

  it("an earlier checkpoint gets a branch", async () => {
    const argv = [
      "state",
      "set",
      project.threadId,
      "--values",
      '{"count": 2}',
      "--as-node",
      "reply",
      "--checkpoint",
      "1",
    ];
    const { stdout } = await project.run(argv);
    const [state] = await history(project.threadId);
    expect(stdout.trim()).toBe(state?.checkpoint?.checkpoint_id);
    expect(texts(state?.values)).toEqual(["hello", "echo: hello"]);
  });
});

interface ExecuteDocument {
  thread_id: string;
  run: RunReport;
  equal?: boolean;
  steps?: { old: string | null; new: string | null; equal: boolean; changes: object[] }[];
  items?: ThreadState[];
}
const execute = (...argv: string[]) =>
  project.json<ExecuteDocument>(["replay", project.threadId, "--execute", ...argv]);

describe("replay --execute", () => {
  it("the last run is repeated on a copy", async () => {
    const before = await history(project.threadId);
    const { code, document } = await execute();
    expect([code, document.run.status]).toEqual([0, "interrupted"]);
    expect(document.thread_id).not.toBe(project.threadId);
    expect(document.items?.map(({ metadata }) => metadata.step)).toEqual([3, 4]);
    expect(await history(project.threadId)).toEqual(before);
  });

  it("--in-place creates a branch on the thread", async () => {
    const before = await history(project.threadId);
    const { document } = await execute("--in-place");
    expect(document.thread_id).toBe(project.threadId);
    expect((await history(project.threadId)).length).toBeGreaterThan(before.length);
  });

  it("the same graph produces equal steps", async () => {
    const { code, document } = await execute("--compare", "--exit-code");
    expect([code, document.equal]).toEqual([0, true]);
    expect(document.steps?.every(({ equal, changes }) => equal && changes.length === 0)).toBe(true);
  });

  it("--compare shows the steps that an edited graph changes", async () => {
    await project.put("edited.ts", chatGraph("loud"));
    const { code, document } = await execute("--against", "./edited.ts:graph", "--compare", "--exit-code");
    expect([code, document.equal]).toEqual([1, false]);
    expect(document.steps?.map(({ equal }) => equal)).toEqual([true, false]);
    const { code: shownCode, stdout } = await project.run([
      "replay",
      project.threadId,
      "--execute",
      "--against",
      "./edited.ts:graph",
      "--compare",
    ]);
    expect(shownCode).toBe(0);
    expect(stdout).toMatch(/^= step 3 {2}__start__ +step 3 {2}__start__$/m);
    expect(stdout).toMatch(/^≠ step 4 {2}reply +step 4 {2}reply$/m);
    expect(stdout).toContain('"echo: pay 5" -> "loud: pay 5"');
  });

  it("a run that now fails exits with code 1", async () => {
    const failing = chatGraph().replace("count: (state.count ?? 0) + 1", 'count: JSON.parse("{")');
    await project.put("failing.ts", failing);
    const { code, document } = await execute("--against", "./failing.ts:graph");
    expect([code, document.run.status]).toEqual([1, "error"]);
    const compared = await execute("--against", "./failing.ts:graph", "--compare", "--exit-code");
    expect([compared.code, compared.document.equal]).toEqual([1, false]);
  });
});

it("fork copies and branches through a server", async () => {
  const server = startCli(
    ["start", "-p", "0", "--checkpointer-scheme", "sqlite", "--checkpointer-uri", "./threads.db"],
    { cwd: project.dir },
  );
  const [url] = await Promise.race([
    server.stderr.until(/http:\/\/127\.0\.0\.1:\d+/),
    server.stdout.until(/http:\/\/127\.0\.0\.1:\d+/),
  ]);
  const latest = await fork("--url", url);
  expect([latest.code, latest.document.thread.metadata.forked_from]).toEqual([0, project.threadId]);
  const earlier = await fork("--checkpoint", "1", "--url", url);
  const offline = await fork("--checkpoint", "1");
  expect([earlier.code, earlier.document.thread.values]).toEqual([0, offline.document.thread.values]);
  const branch = await fork("--checkpoint", "1", "--branch", "--url", url, "--run");
  expect([branch.code, branch.document.thread_id]).toEqual([0, project.threadId]);
  const again = await execute("--in-place", "--url", url, "--compare");
  expect([again.code, again.document.equal]).toEqual([0, true]);
  server.stop();
  await server.exit;
});

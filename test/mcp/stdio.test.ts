/** `graph-serve mcp`: graphs as tools over stdin and stdout. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport as NewestTransport } from "@modelcontextprotocol/client/stdio";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { cli, createProject, type Project, startCli } from "../cli/harness.js";
import { installedCli } from "../helpers/compiled.js";
import { TestClient } from "./client.js";

/** A graph that prints in several ways, then interrupts. */
const PRINTING = `
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
console.log("loaded");
const State = Annotation.Root({ topic: Annotation(), answer: Annotation() });
export const graph = new StateGraph(State)
  .addNode("ask", ({ topic }, { writer }) => {
    console.log("asks\\nabout %s", topic);
    process.stdout.write('{"jsonrpc":"2.0","method":"forged"}\\n');
    writer?.("on its way");
    return { answer: interrupt("about " + topic + "?") };
  })
  .addEdge(START, "ask").addEdge("ask", END).compile();
`;
const WAITING = `
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { writeFileSync } from "node:fs";
export const graph = new StateGraph(Annotation.Root({ n: Annotation() }))
  .addNode("wait", (_, { signal }) => new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => {
      writeFileSync("stopped", "by its client");
      reject(signal.reason);
    });
    process.stderr.write("it waits\\n");
  }))
  .addEdge(START, "wait").addEdge("wait", END).compile();
`;

let project: Project;
let program: string;
beforeAll(async () => {
  program = await installedCli();
  project = await createProject({
    "graph.ts": PRINTING,
    "wait.ts": WAITING,
    "broken.ts": "throw new Error('no key');",
  });
});
afterAll(() => project.remove());

const LINES = {
  initialize: {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  },
  list: { jsonrpc: "2.0", id: 2, method: "tools/list" },
};
const line = (message: unknown) => `${JSON.stringify(message)}\n`;

it("the official client lists and calls tools and answers interrupts, and stdout carries only the protocol", async () => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, "mcp", "./graph.ts", "./broken.ts"],
    cwd: project.dir,
    stderr: "pipe",
  });
  const faults: Error[] = [];
  const test = new TestClient({
    onAsk: ({ message }) => ({ action: "accept", content: { answer: `yes, ${message}` } }),
  });
  // The client reports progress asynchronously, so progress that arrives together with the result has no
  // listener.
  test.client.onerror = (error) => {
    if (!error.message.startsWith("Received a progress notification for an unknown token"))
      faults.push(error);
  };
  let stderr = "";
  transport.stderr?.on("data", (chunk) => (stderr += String(chunk)));
  await test.connect(transport);
  expect((await test.client.listTools()).tools.map(({ name }) => name)).toEqual([
    "agent",
    "broken",
    "resume_thread",
  ]);

  const told: unknown[] = [];
  const answer = await test.call(
    "agent",
    { topic: "cats" },
    { onprogress: ({ message }) => told.push(message) },
  );
  expect(answer.data).toMatchObject({
    status: "success",
    output: { topic: "cats", answer: "yes, about cats?" },
  });
  expect(told).toContain("on its way");
  expect(await test.call("broken", {})).toMatchObject({
    isError: true,
    texts: [expect.stringContaining("Error: no key")],
  });
  expect((await test.client.listResources()).resources).toHaveLength(1);
  expect(faults).toEqual([]);
  for (const printed of ["loaded", "asks", "about cats", "forged"]) expect(stderr).toContain(printed);
});

const NEW = "2026-07-28";

describe.each<[string, "legacy" | "auto" | { pin: string }]>([
  ["before", "legacy"],
  ["since", { pin: NEW }],
  ["negotiated", "auto"],
])("the newest client with the protocol %s 2026-07-28", (era, mode) => {
  async function connect(answer?: string) {
    const client = new Client(
      { name: "test", version: "1" },
      { versionNegotiation: { mode }, capabilities: answer === undefined ? {} : { elicitation: {} } },
    );
    if (answer !== undefined)
      client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { answer } }));
    const args = [program, "mcp", "./graph.ts", "./wait.ts"];
    const transport = new NewestTransport({
      ...{ command: process.execPath, args, cwd: project.dir, stderr: "pipe" },
    });
    let stderr = "";
    const waits = new Promise<void>((resolve) =>
      transport.stderr?.on("data", (chunk) => {
        stderr += String(chunk);
        if (stderr.includes("it waits")) resolve();
      }),
    );
    await client.connect(transport);
    onTestFinished(() => client.close());
    return { client, waits };
  }

  it("a graph asks, and the answer resumes it", async () => {
    const { client } = await connect("yes");
    expect(client.getNegotiatedProtocolVersion()).toBe(era === "before" ? "2025-11-25" : NEW);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["agent", "wait", "resume_thread"]);
    const result = await client.callTool({ name: "agent", arguments: { topic: "cats" } });
    expect(result.structuredContent).toMatchObject({
      status: "success",
      output: { topic: "cats", answer: "yes" },
    });
  });

  it("a client without forms gets the thread to resume; a cancelled call stops its run", async () => {
    const { client, waits } = await connect();
    const asked = await client.callTool({ name: "agent", arguments: { topic: "cats" } });
    expect(asked.structuredContent).toMatchObject({
      status: "interrupted",
      interrupts: [{ value: "about cats?" }],
    });
    const { thread_id } = asked.structuredContent as { thread_id: string };
    const resume = { name: "resume_thread", arguments: { thread_id, answer: "soft" } };
    expect((await client.callTool(resume)).structuredContent).toMatchObject({ output: { answer: "soft" } });
    await rm(join(project.dir, "stopped"), { force: true });
    const controller = new AbortController();
    const { signal } = controller;
    const cancelled = client.callTool({ name: "wait", arguments: {} }, { signal });
    await waits;
    controller.abort();
    await expect(cancelled).rejects.toThrow();
    await expect
      .poll(() => readFile(join(project.dir, "stopped"), "utf8").catch(() => ""))
      .toBe("by its client");
  });
});

it("a call in flight is cancelled when stdin closes", async () => {
  const child = spawn(process.execPath, [program, "mcp", "./wait.ts"], { cwd: project.dir });
  const stderr = (async () => {
    for await (const chunk of child.stderr) if (String(chunk).includes("it waits")) break;
  })();
  const stdout = text(child.stdout);
  const call = { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "wait", arguments: {} } };
  child.stdin.write(line(LINES.initialize) + line(call));
  await stderr;
  child.stdin.end();
  const [code] = (await once(child, "exit")) as [number | null];
  expect(code).toBe(0);
  expect(await readFile(join(project.dir, "stopped"), "utf8")).toBe("by its client");
  for (const each of (await stdout).trim().split("\n"))
    expect(JSON.parse(each)).toMatchObject({ jsonrpc: "2.0" });
});

it("invalid messages are skipped and reported on stderr", async () => {
  const running = startCli(["mcp", "./graph.ts"], { cwd: project.dir });
  const { stdin, stdout, stderr } = running;
  stdin.push("hello\n{\n[]\n" + line({ jsonrpc: "2.0", id: 9 }) + line(LINES.initialize) + line(LINES.list));
  await stdout.until(/"id":2/);
  const answers = stdout.text
    .trim()
    .split("\n")
    .map((each) => JSON.parse(each) as { id: unknown });
  expect(answers.map(({ id }) => id)).toEqual([1, 2]);
  expect(stderr.text.match(/invalid message ignored/g)).toHaveLength(4);
  running.stop();
  expect(await running.exit).toBe(0);
});

it("a message larger than body_limit exits with code 2", async () => {
  const { stdin, stderr, exit } = startCli(["mcp", "./graph.ts"], {
    cwd: project.dir,
    env: { GRAPH_SERVE_BODY_LIMIT: "2000" },
  });
  stdin.push("x".repeat(3000));
  expect(await exit).toBe(2);
  expect(stderr.text).toContain("larger than 2000 bytes");
});

it("a project without a graph exits with code 2", async () => {
  const empty = await createProject();
  const { code, stdout, stderr } = await cli(["mcp"], { cwd: empty.dir });
  await empty.remove();
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("no graphs to serve");
});

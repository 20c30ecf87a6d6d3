/** `dev --inspect` opens a debugger in the process that runs the graphs. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { WebSocket } from "ws";
import { installedCli } from "../helpers/compiled.js";
import { freePort } from "../helpers/free-port.js";
import { Capture, cli, createProject, type Project } from "./harness.js";

const graph = `
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
globalThis.loadedGraph = process.pid;
export const graph = new StateGraph(Annotation.Root({ n: Annotation<number> }))
  .addNode("one", () => ({ n: 1 })).addEdge(START, "one").addEdge("one", END).compile();
`;

let project: Project;
let program: string;
let child: ChildProcess | undefined;
beforeEach(async () => {
  program = await installedCli();
  project = await createProject({
    "graph.ts": graph,
    "graph-server.config.json": { graphs: { agent: "./graph.ts" } },
  });
});
afterEach(async () => {
  if (child && child.exitCode === null) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  await project.remove();
});

function start(...flags: string[]) {
  const args = [program, "dev", "--db", "memory", "-p", "0", ...flags];
  child = spawn(process.execPath, args, { cwd: project.dir, stdio: ["ignore", "pipe", "pipe"] });
  const stderr = new Capture();
  child.stderr?.on("data", (text: Buffer) => stderr.write(String(text)));
  return { child, stderr };
}

/** Evaluates in the debugged process. */
async function evaluate(socket: WebSocket, expression: string): Promise<unknown> {
  const answer = once(socket, "message");
  socket.send(JSON.stringify({ id: 1, method: "Runtime.evaluate", params: { expression } }));
  const [data] = (await answer) as [Buffer];
  const { result } = JSON.parse(data.toString()) as { result: { result: { value: unknown } } };
  return result.result.value;
}

it("a debugger sees the process that runs the graphs, and stays attached when dev restarts", async () => {
  const port = await freePort();
  const { child: dev, stderr } = start(`--inspect=${port}`);
  const [, url = ""] = await stderr.until(/debugger (ws:\/\/\S+)\n[\s\S]*storage/);
  expect(new URL(url).host).toBe(`127.0.0.1:${port}`);
  const socket = new WebSocket(url);
  await once(socket, "open");
  expect(await evaluate(socket, "globalThis.loadedGraph")).toBe(dev.pid);
  await writeFile(
    join(project.dir, "graph-server.config.json"),
    JSON.stringify({ graphs: { agent: "./graph.ts" }, welcome_message: "new" }),
  );
  await stderr.until(/reloaded graph-server.config.json/);
  expect(await evaluate(socket, "process.pid")).toBe(dev.pid);
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as object[];
  expect(targets).toMatchObject([{ webSocketDebuggerUrl: url }]);
  // An attached debugger does not keep the process from exiting.
  const exited = once(dev, "exit");
  dev.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
});

it("a port in use is an error that names another one", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const { code, stderr } = await cli(["dev", `--inspect=${port}`], { cwd: project.dir });
  server.close();
  expect(code).toBe(2);
  expect(stderr).toContain(`error  port ${port} on 127.0.0.1 is in use`);
  expect(stderr).toContain(`fix  use another port, such as --inspect=${port + 1}, or --inspect=0`);
});

it.each(["./graph.ts", "70000", "1.2.3.4:x", "127.0.0.1:99999", "12:34", ""])(
  "--inspect=%s is rejected with an example",
  async (value) => {
    const { code, stderr } = await cli(["dev", `--inspect=${value}`], { cwd: project.dir });
    expect(code).toBe(2);
    expect(stderr).toContain(`error  --inspect must be a port, or a host and a port, got ${value}`);
    expect(stderr).toContain("fix  for example --inspect=9230");
  },
);

it("a host of another machine is an error", async () => {
  const { code, stderr } = await cli(["dev", "--inspect=192.0.2.1:9230"], { cwd: project.dir });
  expect(code).toBe(2);
  expect(stderr).toContain("the debugger listens on 192.0.2.1: every machine that reaches it can run code");
  expect(stderr).toContain("error  the debugger cannot listen on 192.0.2.1:9230: EADDRNOTAVAIL");
});

/** Graphs that change or fail to load while MCP clients are connected. */
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openService } from "../../src/service/open.js";
import { serve, type TestServer } from "../helpers/app.js";
import { connectHttp } from "./client.js";

const graphWith = (key: string) => `
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(Annotation.Root({ ${key}: Annotation() }))
  .addNode("node", () => ({})).addEdge(START, "node").addEdge("node", END).compile();
`;

let dir: string;
const put = (content: string) => writeFile(join(dir, "graph.ts"), content);

async function open(): Promise<TestServer> {
  const settings = { graphs: { agent: "./graph.ts" }, mcp: true };
  return serve(await openService({ settings, cwd: dir, standIns: true }));
}

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "graph-serve-mcp-"));
  await symlink(join(process.cwd(), "node_modules"), join(dir, "node_modules"), "junction");
});
afterEach(() => rm(dir, { recursive: true, force: true }));

it("clients are notified after a hot reload and list the updated tools", async () => {
  await put(graphWith("before"));
  const { url, service } = await open();
  let changes = 0;
  const { client } = await connectHttp(url, { onToolsChanged: () => (changes += 1) });
  const keys = async () => Object.keys((await client.listTools()).tools[0]?.inputSchema.properties ?? {});
  expect(await keys()).toEqual(["before", "thread_id"]);
  await put(graphWith("after"));
  // The client's notification stream may still be opening.
  await expect
    .poll(async () => {
      await service.reload();
      return changes;
    })
    .toBeGreaterThan(0);
  expect(await keys()).toEqual(["after", "thread_id"]);
});

it("a graph that does not load is listed as a tool that returns the error", async () => {
  await put('throw new Error("no key");');
  const { url } = await open();
  const client = await connectHttp(url);
  const why = 'graph "agent" does not load: ./graph.ts throws when it is imported: Error: no key';
  const [tool] = (await client.client.listTools()).tools;
  expect(tool).toMatchObject({ name: "agent", inputSchema: { type: "object" } });
  expect(tool?.description).toContain(why);
  const answer = await client.call("agent", {});
  expect(answer).toMatchObject({ isError: true });
  expect(answer.texts.join()).toContain(why);
});

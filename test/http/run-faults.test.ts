/** Where a run threw is stored with the run for the graph's developer. API clients only get the error message. */
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { threadText } from "../../src/cli/transfer/thread-file.js";
import { localClient } from "../../src/client/local.js";
import { createProject, type Project } from "../cli/harness.js";
import { ROUTES } from "../../src/http/route-table.js";
import { STREAM_MODES, type Run } from "../../src/models/run.js";
import { startTestServer, type TestServer } from "../helpers/app.js";

const graph = `
import { Annotation, START, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(Annotation.Root({ n: Annotation<number> }))
  .addNode("work", () => {
    throw new RangeError("kaboom"); // MARK-OF-THE-CODE
  })
  .addEdge(START, "work")
  .compile();
`;
const MODES = STREAM_MODES.filter((mode) => mode !== "events");
/** Streams that do not end while the thread exists. */
const ENDLESS = ["/changes", "/threads/{thread_id}/stream"];
/** Parts of the stored error that must not be exposed: code, its file, stack frames. */
const SHOWS_CODE = /MARK-OF-THE-CODE|marked-graph\.ts|node_modules|"fault"|"stack"|"folded"/;

let project: Project;
let server: TestServer;
beforeEach(async () => {
  project = await createProject({ "marked-graph.ts": graph });
  server = await startTestServer({
    graphs: { agent: join(project.dir, "marked-graph.ts:graph") },
    settings: { crons: true },
  });
});
afterEach(() => project.remove());

/** Creates a thread with a failed run. */
async function failedRun(): Promise<Run> {
  const { thread_id } = await server.service.threads.create({});
  return server.service.runs.create(thread_id, { assistant_id: "agent", input: { n: 1 } });
}

it("the location of an error is stored with the run", async () => {
  const { thread_id, run_id } = await failedRun();
  const fault = await server.service.runs.fault(thread_id, run_id);
  expect(fault).toMatchObject({ name: "RangeError", message: "kaboom", node: "work", location: { line: 5 } });
  expect(fault?.location?.frame).toContain("MARK-OF-THE-CODE");
});

it("the location of an error is in no API response", async () => {
  const { thread_id, run_id } = await failedRun();
  const body = { assistant_id: "agent", input: { n: 1 }, stream_mode: MODES };
  const seen: string[] = [];
  const headers = { "last-event-id": "-1" };
  const followed = await server.fetch("GET", `/threads/${thread_id}/stream`, undefined, { headers });
  for (const { method, path } of ROUTES) {
    if (method === "delete" || path === "/threads/prune" || ENDLESS.includes(path)) continue;
    const filled = path
      .replace("{thread_id}", thread_id)
      .replace("{run_id}", run_id)
      .replace("{assistant_id}", "agent");
    const bodies = method === "get" ? [undefined] : [{}, body, [body]];
    for (const each of bodies) seen.push((await server.request(method.toUpperCase(), filled, each)).text);
  }
  const select = "select=run_id&select=fault";
  for (const path of [
    `/threads/${thread_id}/runs?limit=100`,
    `/threads/${thread_id}/runs?${select}`,
    "/openapi.json",
  ])
    seen.push((await server.request("GET", path)).text);
  await server.request("DELETE", `/threads/${thread_id}`);
  const frames = await followed.text();
  expect(frames).toContain("kaboom");
  seen.push(frames);
  expect(seen.filter((text) => text.includes("kaboom")).length).toBeGreaterThan(8);
  expect(seen.filter((text) => SHOWS_CODE.test(text))).toEqual([]);
});

it("the location of an error is not in an exported thread", async () => {
  const { thread_id } = await failedRun();
  let exported = "";
  for await (const part of threadText(localClient(server.service), thread_id, [])) exported += part;
  expect(exported).toContain("kaboom");
  expect(exported).not.toMatch(SHOWS_CODE);
});

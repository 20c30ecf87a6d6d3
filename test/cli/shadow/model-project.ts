/** A project whose graph calls a model over HTTP, and its server, which records the calls. */
import { afterEach, beforeEach, expect } from "vitest";
import { httpGraph, type ModelServer, startModelServer } from "../../testing/model-server.js";
import { createProject, startCli, type Project, type RunningCli } from "../harness.js";

export const SECRET = "not-for-your-eyes-42";

/** Of the current test. */
export let project: Project;
export let model: ModelServer;
export let running: RunningCli | undefined;

/** Creates the project and the model before each test of the file, and removes them after it. */
export function useModelProject(): void {
  beforeEach(async () => {
    model = await startModelServer();
    process.env.MODEL_URL = model.url;
    process.env.MODEL_API_KEY = SECRET;
    project = await createProject({ "graph.ts": httpGraph });
  });
  afterEach(async () => {
    await stopped();
    await model.close();
    delete process.env.MODEL_URL;
    delete process.env.MODEL_API_KEY;
    await project.remove();
  });
}

/** Starts the server, and returns its URL. */
export async function start(): Promise<string> {
  running = startCli(["start", "-p", "0"], { cwd: project.dir, env: { MODEL_API_KEY: SECRET } });
  await running.stderr.until(/"msg":"listening"\}\n/);
  return /"url":"(http:[^"]+)"/.exec(running.stderr.text)?.[1] ?? "";
}

export async function stopped(): Promise<void> {
  running?.stop();
  await running?.exit;
  running = undefined;
}

/** Creates a thread with one run, and returns its id. */
export async function ask(url: string, content: string, ttl?: object): Promise<string> {
  const created = await fetch(`${url}/threads`, { method: "POST", body: JSON.stringify(ttl ? { ttl } : {}) });
  const { thread_id } = (await created.json()) as { thread_id: string };
  const body = JSON.stringify({ assistant_id: "agent", input: { messages: [{ role: "user", content }] } });
  const answer = await fetch(`${url}/threads/${thread_id}/runs/wait`, { method: "POST", body });
  expect(await answer.text()).toContain("reply");
  return thread_id;
}

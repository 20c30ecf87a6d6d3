import { expect, it } from "vitest";
import { release } from "../fixtures/graphs/releases.js";
import { keptStorage, MEMORY } from "../helpers/backends.js";
import { answerOf, deploy, RUN, stopped, waited } from "../helpers/deploys.js";
import type { TestServer } from "../helpers/app.js";

async function versionsOf({ request }: TestServer, thread: string) {
  const bodies = await Promise.all(
    ["", "/runs", "/state"].map(async (path) => (await request("GET", `/threads/${thread}${path}`)).body),
  );
  const [row, [run], state] = bodies as [Kept, [Kept], Kept];
  return [row, run, state].map(({ metadata }) => metadata.graph_version);
}

interface Kept {
  metadata: { graph_version?: string };
}

it("runs, threads and checkpoints keep the version of the graph that wrote them", async () => {
  const storage = await keptStorage(MEMORY);
  const first = await deploy(storage, release("interrupt", "none"));
  const thread = await stopped(first, "interrupt");
  const [version, ...others] = await versionsOf(first, thread);
  expect(version).toMatch(/^[0-9a-f]{12}$/);
  expect(others).toEqual([version, version]);
  const forged = { configurable: { graph_version: "forged" } };
  const second = await deploy(storage, release("interrupt", "added"), { graph_version: "1f3c" });
  await waited(second, thread, {
    ...answerOf("interrupt"),
    config: forged,
    metadata: { graph_version: "x" },
  });
  const later = await versionsOf(second, thread);
  expect(new Set(later).size).toBe(1);
  expect(later[0]).toMatch(/^[0-9a-f]{12}$/);
  expect(later[0]).not.toBe(version);
});

it("a delayed run keeps the version that accepted it; its checkpoints have the one that executes it", async () => {
  const storage = await keptStorage(MEMORY);
  const settings = { delayed_runs: true } as const;
  const first = await deploy(storage, release("queued", "none"), settings);
  const { thread_id } = await first.service.threads.create({});
  const { run_id, metadata } = await first.service.runs.create(thread_id, { ...RUN, after_seconds: 3600 });
  expect(metadata.graph_version).toMatch(/^[0-9a-f]{12}$/);
  expect((await first.service.runs.get(thread_id, run_id)).metadata).toEqual(metadata);
  const second = await deploy(storage, release("queued", "added"), settings);
  await second.service.fireDue(new Date(Date.now() + 3_601_000).toISOString());
  await (
    await second.service.runs.join(thread_id, run_id)
  ).answer;
  const [thread, run, state] = await versionsOf(second, thread_id);
  expect(run).toBe(metadata.graph_version);
  expect(thread).toMatch(/^[0-9a-f]{12}$/);
  expect(thread).not.toBe(run);
  expect(state).toBe(thread);
});

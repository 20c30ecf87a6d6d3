import { expect, it } from "vitest";
import { release } from "../fixtures/graphs/releases.js";
import { keptStorage, MEMORY } from "../helpers/backends.js";
import { answerOf, deploy, stopped, waited } from "../helpers/deploys.js";
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

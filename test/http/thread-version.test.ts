/** A server says whether a thread can continue on the graph that it serves. */
import { describe, expect, it } from "vitest";
import type { ThreadVersion } from "../../src/models/version.js";
import { type Change, release } from "../fixtures/graphs/releases.js";
import { keptStorage, MEMORY } from "../helpers/backends.js";
import { answerOf, deploy, stopped, waited } from "../helpers/deploys.js";
import { migrationsFile, versionOf } from "../helpers/migrations.js";

async function changed(change: Change, migrations?: string) {
  const storage = await keptStorage(MEMORY);
  const first = await deploy(storage, release("interrupt", "none"));
  const thread = await stopped(first, "interrupt");
  const second = await deploy(storage, release("interrupt", change), { ...(migrations && { migrations }) });
  const version = async () =>
    (await second.request("GET", `/threads/${thread}/version`)).body as ThreadVersion;
  return { thread, second, version };
}

describe("the version of a thread", () => {
  it("without a change, the thread can continue", async () => {
    const { thread, version } = await changed("none");
    const served = await versionOf(release("interrupt", "none"));
    expect(await version()).toEqual({
      ...{ thread_id: thread, graph_id: "agent", version: served, served_version: served },
      ...{ problems: [], migrations: [], unchecked: null },
    });
  });

  it("after a rename, the problem names the node, and the history is not changed", async () => {
    const { thread, second, version } = await changed("renamed");
    const before = (await second.request("POST", `/threads/${thread}/history`, {})).text;
    expect(await version()).toMatchObject({
      version: await versionOf(release("interrupt", "none")),
      served_version: await versionOf(release("interrupt", "renamed")),
      problems: [
        {
          kind: "node",
          message: 'waits in node "ask", which is gone; the nodes are first, last, question',
        },
      ],
    });
    expect((await second.request("POST", `/threads/${thread}/history`, {})).text).toBe(before);
  });

  it("migrations are listed until they have converted the thread", async () => {
    const from = await versionOf(release("interrupt", "none"));
    const list = JSON.stringify([{ from, nodes: { ask: "question" } }]);
    const { thread, second, version } = await changed("renamed", await migrationsFile(list));
    expect(await version()).toMatchObject({ version: from, problems: [], migrations: [from] });
    expect(await waited(second, thread, answerOf("interrupt"))).toMatchObject({ status: 200 });
    const served = await versionOf(release("interrupt", "renamed"));
    expect(await version()).toMatchObject({ version: served, problems: [], migrations: [] });
  });

  it("messages of migrations and state keys are not shown", async () => {
    const from = await versionOf(release("interrupt", "none"));
    const list = `[{ from: "${from}", state: () => { throw new Error("card 1234"); } }]`;
    const { version } = await changed("added", await migrationsFile(list));
    const found = await version();
    expect(found.problems).toEqual([{ kind: "migration", message: "a migration that applies to it fails" }]);
    expect(JSON.stringify(found)).not.toContain("1234");
  });

  it("of a missing thread is 404", async () => {
    const { second } = await changed("none");
    const { status } = await second.request("GET", `/threads/${crypto.randomUUID()}/version`);
    expect(status).toBe(404);
  });
});

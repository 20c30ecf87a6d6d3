/** Assistants that clients created, on every backend. */
import { Client } from "@langchain/langgraph-sdk";
import { expect, it } from "vitest";
import { openService } from "../../src/service/open.js";
import { startTestServer } from "../helpers/app.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";
import { INPUT, leaveRun, trails } from "../helpers/left-runs.js";
import { byHeader } from "../helpers/two-users.js";

const settings = { assistants: "managed" } as const;

onEveryBackend("managed assistants", (backend) => {
  it("are created, searched, versioned, run and deleted, each user for themselves", async () => {
    const storage = await keptStorage(backend());
    const graphs = await trails();
    const { url } = await startTestServer({ graphs, storage, settings, authenticate: byHeader });
    const as = (user: string) => new Client({ apiUrl: url, apiKey: null, defaultHeaders: { user } });
    const [ann, ben] = [as("ann"), as("ben")];
    const metadata = { team: "house" };
    if (!storage.timers) {
      await expect(ann.assistants.create({ graphId: "trail" })).rejects.toThrow(
        "assistants cannot be stored",
      );
      return;
    }
    const { assistant_id: id } = await ann.assistants.create({ graphId: "trail", name: "Ada", metadata });
    const changed = await ann.assistants.update(id, { name: "Bea", metadata: { floor: 2 } });
    expect(changed).toMatchObject({ version: 2, name: "Bea", metadata: { team: "house", floor: 2 } });
    expect((await ann.assistants.getVersions(id)).map(({ version }) => version)).toEqual([2, 1]);
    expect(await ann.assistants.setLatest(id, 1)).toMatchObject({ version: 1, name: "Ada" });
    const found = await ann.assistants.search({ metadata });
    expect(found.map(({ assistant_id }) => assistant_id)).toEqual([id]);
    expect(await ben.assistants.search({ metadata })).toEqual([]);
    await expect(ben.assistants.get(id)).rejects.toMatchObject({ status: 404 });
    await expect(ben.assistants.delete(id)).rejects.toMatchObject({ status: 404 });
    const { thread_id } = await ann.threads.create();
    expect(await ann.runs.wait(thread_id, id, { input: INPUT })).toMatchObject({
      log: ["in", "a", "b", "c"],
    });
    const own = await ann.threads.search({ metadata: { assistant_id: id } });
    expect(own.map((thread) => thread.thread_id)).toEqual([thread_id]);
    await ann.assistants.delete(id);
    await expect(ann.assistants.get(id)).rejects.toMatchObject({ status: 404 });
  });

  it("a run that another process resumes after a crash keeps its assistant", async () => {
    if (!["sqlite", "postgres", "mongodb"].includes(backend().name)) return;
    const storage = await keptStorage(backend());
    const graphs = await trails();
    const before = await openService({ graphs, storage, settings, mode: "edit" });
    const { assistant_id } = await before.managedAssistants.create({ graph_id: "trail" });
    const { thread_id, run_id } = await leaveRun(before, storage, { attempt: 1, assistant_id });
    // What the run got from its assistant was stored with it.
    await before.managedAssistants.delete(assistant_id);
    await before.close(0);
    const { service, request } = await startTestServer({ graphs, storage, settings });
    await request("GET", `/threads/${thread_id}/runs/${run_id}/join`);
    expect(await service.runs.get(thread_id, run_id)).toMatchObject({
      ...{ status: "success", attempt: 2, assistant_id },
      metadata: { assistant_id, graph_id: "trail" },
    });
    expect((await service.threads.get(thread_id)).metadata).toMatchObject({
      assistant_id,
      graph_id: "trail",
    });
  });
});

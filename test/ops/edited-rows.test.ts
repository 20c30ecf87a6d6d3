/** The row of a thread changes while its state is edited, for instance because another server accepts a run. */
import { expect, it } from "vitest";
import type { Storage } from "../../src/storage/contract/storage.js";
import { timeOfCheckpoint } from "../../src/storage/saver/known-head.js";
import { now } from "../../src/storage/rows/rows.js";
import { release } from "../fixtures/graphs/releases.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";
import { answerOf, deploy, logOf, stopped, waited } from "../helpers/deploys.js";
import { migrationsFile, versionOf } from "../helpers/migrations.js";
import { withPostgres } from "../helpers/postgres.js";
import { replacing } from "../helpers/refusing.js";
import { idAt } from "../storage/contract/heads.js";

/** The storage, which calls `before` at each of the first `count` writes of a checkpoint. */
function disturbed(storage: Storage, count: number, before: (thread: string) => Promise<unknown>): Storage {
  const { checkpointer } = storage;
  let left = count;
  const put: typeof checkpointer.put = async (config, ...written) => {
    if (left-- > 0) await before(String(config.configurable?.thread_id));
    return checkpointer.put(config, ...written);
  };
  return { ...storage, checkpointer: replacing(checkpointer, { put }) };
}

const CHANGES = 3;

onEveryBackend("an edit", (backend) => {
  it("succeeds if the metadata of the thread change meanwhile", async () => {
    const storage = await keptStorage(backend());
    const first = await deploy(storage, release("interrupt", "none"));
    const thread = await stopped(first, "interrupt");
    let changes = 0;
    const patch = (id: string) =>
      first.request("PATCH", `/threads/${id}`, { metadata: { changes: (changes += 1) } });
    const second = await deploy(disturbed(storage, CHANGES, patch), release("interrupt", "none"));
    const edit = { values: { log: ["edited"] } };
    expect(await second.request("POST", `/threads/${thread}/state`, edit)).toMatchObject({ status: 200 });
    expect(changes).toBeGreaterThan(0);
    expect(await logOf(second, thread)).toEqual(["first", "edited"]);
  });

  it("succeeds if it migrates the thread of a run, whose metadata change meanwhile", async () => {
    const storage = await keptStorage(backend());
    const before = release("interrupt", "none");
    const first = await deploy(storage, before);
    const thread = await stopped(first, "interrupt");
    const patch = (id: string) => first.request("PATCH", `/threads/${id}`, { metadata: { changed: true } });
    const from = await versionOf(before);
    const migrations = await migrationsFile(`[{ from: "${from}", nodes: { ask: "question" } }]`);
    const renamed = release("interrupt", "renamed");
    const second = await deploy(disturbed(storage, 1, patch), renamed, { migrations });
    expect(await waited(second, thread, answerOf("interrupt"))).toMatchObject({ status: 200 });
    expect(await logOf(second, thread)).toEqual(["first", "question: yes", "last"]);
  });
});

withPostgres("with postgres", (postgres) => {
  it("an edit is refused if another server that also holds the thread writes a checkpoint meanwhile", async () => {
    const storage = { ...(await postgres.open()), close: async () => undefined };
    const { checkpointer, threads } = storage;
    const first = await deploy(storage, release("interrupt", "none"));
    const thread = await stopped(first, "interrupt");
    const edited = async (thread_id: string) => {
      const place = { thread_id, checkpoint_ns: "" };
      const head = await checkpointer.getTuple({ configurable: place });
      if (!head) throw new Error("the thread has no checkpoint");
      const id = idAt((timeOfCheckpoint(head.checkpoint.id) ?? 0) + 1);
      const metadata = { source: "update" as const, step: 9, parents: {} };
      const at = { configurable: { ...place, checkpoint_id: head.checkpoint.id } };
      await checkpointer.put(at, { ...head.checkpoint, id }, metadata, {});
      await threads.update(thread_id, { updated_at: now() });
    };
    const second = await deploy(disturbed(storage, 1, edited), release("interrupt", "none"));
    const answer = await second.request("POST", `/threads/${thread}/state`, { values: { log: ["edited"] } });
    expect(answer).toMatchObject({ status: 409, body: { code: "thread_changed" } });
    expect(await logOf(first, thread)).toEqual(["first"]);
  });
});

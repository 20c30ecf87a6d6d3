import { Command } from "@langchain/langgraph";
import { emptyCheckpoint, uuid6, type CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { RunTakenError } from "../../src/support/errors.js";
import { newId } from "../../src/support/ids.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import type { Checkpointer } from "../../src/storage/contract/checkpointer.js";
import { withPostgres } from "../helpers/postgres.js";
import { askingGraph, nestedGraph } from "./contract/graphs.js";
import { runRow, threadRow } from "./contract/rows.js";

const at = (thread_id: string) => ({ configurable: { thread_id, checkpoint_ns: "" } });
const LOOP = { source: "loop" as const, step: 0, parents: {} };

withPostgres("postgres checkpointer", (postgres) => {
  let storage: Storage;
  let official: PostgresSaver;
  beforeAll(async () => {
    storage = await postgres.open();
    official = new PostgresSaver(postgres.pool, undefined, { schema: postgres.schema });
  });
  afterAll(() => postgres.close());
  afterEach(() => vi.restoreAllMocks());

  const ours = () => storage.checkpointer;
  const theirs = () => official as unknown as Checkpointer;

  async function history(saver: Checkpointer, thread_id: string): Promise<CheckpointTuple[]> {
    const tuples = [];
    for await (const tuple of saver.list(at(thread_id))) tuples.push(tuple);
    return tuples;
  }

  async function countRows(table: string, thread_id: string): Promise<number> {
    const sql = `SELECT count(*)::int AS n FROM "${postgres.schema}".${table} WHERE thread_id = $1`;
    return (await postgres.sql<{ n: number }>(sql, [thread_id]))[0]!.n;
  }

  const checkpoint = (values: Record<string, unknown> = {}) => ({
    ...emptyCheckpoint(),
    id: uuid6(0),
    channel_values: values,
    channel_versions: Object.fromEntries(Object.keys(values).map((channel) => [channel, 1])),
  });

  describe("compatibility with the official saver", () => {
    it.each([
      ["moves from the official saver", theirs, ours],
      ["moves back to the official saver", ours, theirs],
    ])("a thread %s", async (_, first, second) => {
      const [from, to] = [first(), second()];
      const thread = newId();
      await askingGraph(from).invoke({ log: ["in"] }, at(thread));
      const graph = askingGraph(to);
      expect((await graph.getState(at(thread))).next).toEqual(["ask"]);
      const { log } = await graph.invoke(new Command({ resume: "yes" }), at(thread));
      expect(log).toEqual(["in", "planned", "answer yes", "done"]);
      const again = await askingGraph(from).invoke({ log: ["again"] }, at(thread));
      expect(again.log).toEqual(["in", "planned", "answer yes", "done", "again", "planned"]);
      expect(await history(ours(), thread)).toEqual(await history(theirs(), thread));
    });

    it.each([
      ["official", "ours"],
      ["ours", "official"],
    ])("subgraphs continue when moved from %s to %s", async (first) => {
      const [from, to] = first === "ours" ? [ours(), theirs()] : [theirs(), ours()];
      const thread = newId();
      await nestedGraph(from).invoke({ log: ["in"] }, at(thread));
      const { log } = await nestedGraph(to).invoke(new Command({ resume: "yes" }), at(thread));
      expect(log.at(-1)).toBe("answer yes");
    });

    it("both savers read the same values", async () => {
      const thread = newId();
      const values = {
        text: "ü\u2028",
        nested: { bytes: new Uint8Array([0, 255]) },
        nothing: null,
        map: new Map([[1, new Set([2])]]),
        error: new Error("x"),
        empty: [],
      };
      const { id, ...rest } = checkpoint(values);
      for (const saver of [ours(), theirs()]) {
        const versions = { ...rest.channel_versions, gone: 3 };
        const config = await saver.put(at(thread), { ...rest, id }, LOOP, versions);
        await saver.putWrites(config, Object.entries(values), `task of ${saver.constructor.name}`);
      }
      const [read, expected] = [await ours().getTuple(at(thread)), await theirs().getTuple(at(thread))];
      expect(read).toEqual({ ...expected, metadata: read?.metadata });
      expect(read?.checkpoint.channel_values).toEqual(values);
    });

    it("the checkpoint tables are those of the official saver", async () => {
      await official.setup();
      const versions = await postgres.sql(
        `SELECT v FROM "${postgres.schema}".checkpoint_migrations ORDER BY v`,
      );
      expect(versions.map(({ v }) => v as number)).toEqual([0, 1, 2, 3, 4]);
    });
  });

  describe("statements", () => {
    /** Number of statements sent to pg while `work` runs, without the heartbeats of the locks. */
    async function statements(work: () => Promise<unknown>): Promise<number> {
      const query = vi.spyOn(pg.Client.prototype, "query");
      await work();
      const given = query.mock.calls.map(([config]) => config as string | { name?: string });
      const { length } = given.filter((one) => typeof one === "object" && one.name !== "gs_locks");
      query.mockRestore();
      return length;
    }

    it("every call is a single statement", async () => {
      const thread = newId();
      const config = { ...at(thread), configurable: { ...at(thread).configurable, checkpoint_id: uuid6(1) } };
      const values = { a: 1, b: [2], c: "3" };
      const { channel_versions: versions } = checkpoint(values);
      expect(await statements(() => ours().put(at(thread), checkpoint(values), LOOP, versions))).toBe(1);
      expect(await statements(() => ours().putWrites(config, Object.entries(values), "task"))).toBe(1);
      expect(await statements(() => ours().getTuple(at(thread)))).toBe(1);
      expect(await statements(() => history(ours(), thread))).toBe(1);
      expect(await statements(() => ours().deleteThread(thread))).toBe(1);
    });

    /** Blocks checkpoint writes until the returned function is called. */
    async function blockWrites(): Promise<() => Promise<void>> {
      const client = await postgres.pool.connect();
      await client.query(`BEGIN; LOCK TABLE "${postgres.schema}".checkpoints IN EXCLUSIVE MODE`);
      return async () => {
        await client.query("COMMIT");
        client.release();
      };
    }

    const isBlocked = async () =>
      (
        await postgres.sql(
          `SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`,
          [`${postgres.schema} pool`],
        )
      ).length > 0;

    it("a call resolves only after its data is stored", async () => {
      const [thread, unblock] = [newId(), await blockWrites()];
      let settled = false;
      const put = ours()
        .put(at(thread), checkpoint(), LOOP, {})
        .finally(() => (settled = true));
      await expect.poll(isBlocked).toBe(true);
      expect(settled).toBe(false);
      await unblock();
      await put;
      expect(await countRows("checkpoints", thread)).toBe(1);
    });

    it("concurrent calls share a statement", async () => {
      const [thread, unblock] = [newId(), await blockWrites()];
      const [first, second] = [checkpoint({ a: 1 }), checkpoint({ a: 1 })];
      const config = (id: string) => ({ configurable: { ...at(thread).configurable, checkpoint_id: id } });
      const taken = statements(async () => {
        const calls: Promise<unknown>[] = [ours().put(at(thread), first, LOOP, { a: 1 })];
        await expect.poll(isBlocked).toBe(true);
        for (const task of ["x", "y", "z"]) calls.push(ours().putWrites(config(first.id), [["a", 2]], task));
        calls.push(ours().put(config(first.id), second, { ...LOOP, step: 1 }, { a: 1 }));
        await unblock();
        await Promise.all(calls);
      });
      expect(await taken).toBe(2);
      const [latest, before] = await history(ours(), thread);
      expect(latest?.parentConfig?.configurable?.checkpoint_id).toBe(first.id);
      expect(before?.pendingWrites).toEqual(["x", "y", "z"].map((task) => [task, "a", 2]));
    });

    it("the last write of a checkpoint id wins", async () => {
      const [thread, unblock, one] = [newId(), await blockWrites(), checkpoint()];
      const calls = [0, 1, 2].map((step) => ours().put(at(thread), one, { ...LOOP, step }, {}));
      await unblock();
      await Promise.all(calls);
      expect((await ours().getTuple(at(thread)))?.metadata?.step).toBe(2);
    });

    it("a failed statement rejects only its own calls", async () => {
      const thread = newId();
      const tooLong = { ...checkpoint(), id: Array.from({ length: 500 }, newId).join("") };
      await expect(ours().put(at(thread), tooLong, LOOP, {})).rejects.toMatchObject({
        code: "payload_too_large",
      });
      await ours().put(at(thread), checkpoint(), LOOP, {});
      expect(await countRows("checkpoints", thread)).toBe(1);
    });
  });

  it("a write during a takeover waits for it and is rejected", async () => {
    const thread = threadRow();
    const run = runRow(thread.thread_id, { status: "running" });
    await storage.threads.insert(thread);
    await storage.runs.insert(run, { updated_at: thread.updated_at });
    ours().hold?.(run.run_id, { owner: run.owner, attempt: 1 });
    const taking = await postgres.pool.connect();
    await taking.query("BEGIN");
    await taking.query(`UPDATE "${postgres.schema}".gs_runs SET attempt = 2 WHERE run_id = $1`, [run.run_id]);
    const config = { configurable: { ...at(thread.thread_id).configurable, run_id: run.run_id } };
    const late = ours().put(config, checkpoint({ a: 1 }), LOOP, { a: 1 });
    const refused = expect(late).rejects.toBeInstanceOf(RunTakenError);
    const waiting =
      "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FOR SHARE OF r%'";
    await expect.poll(async () => (await postgres.sql(waiting)).length).toBeGreaterThan(0);
    await taking.query("COMMIT");
    taking.release();
    await refused;
    expect(await ours().getTuple(at(thread.thread_id))).toBeUndefined();
  });

  describe("rows", () => {
    it("pruning deletes unreferenced values", async () => {
      const thread = newId();
      for (const n of [1, 2, 3]) {
        const one = { ...checkpoint({ a: n, same: 0 }), id: uuid6(n) };
        one.channel_versions = { a: n, same: 1 };
        await ours().put(at(thread), one, LOOP, one.channel_versions);
      }
      expect(await countRows("checkpoint_blobs", thread)).toBe(4);
      await ours().keepLatest(thread, [""]);
      expect(await countRows("checkpoint_blobs", thread)).toBe(2);
      expect((await ours().getTuple(at(thread)))?.checkpoint.channel_values).toEqual({ a: 3, same: 0 });
    });

    it("deleting a thread deletes its checkpoints", async () => {
      const thread = newId();
      const config = await ours().put(at(thread), checkpoint({ a: 1 }), LOOP, { a: 1 });
      await ours().putWrites(config, [["a", 1]], "task");
      await storage.threads.delete(thread);
      for (const table of ["checkpoints", "checkpoint_blobs", "checkpoint_writes"]) {
        expect(await countRows(table, thread)).toBe(0);
      }
    });

    it("NUL characters and lone surrogates in metadata are stored", async () => {
      const thread = newId();
      await ours().put(at(thread), checkpoint(), { ...LOOP, parents: { "\0a": "\ud800b" } }, {});
      const tuple = await ours().getTuple(at(thread));
      expect(tuple?.metadata?.parents).toEqual({ "\uFFFDa": "\uFFFDb" });
    });
  });
});

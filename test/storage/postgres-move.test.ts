/** Migrating from the official PostgresSaver and back: each saver reads what the other has written. */
import type { RunnableConfig } from "@langchain/core/runnables";
import { Command } from "@langchain/langgraph";
import { BaseCheckpointSaver, type CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { deltaChannelHistoryTests, validate } from "@langchain/langgraph-checkpoint-validation";
import { beforeAll, describe, expect, it } from "vitest";
import { explainPostgres } from "../../src/storage/postgres/errors.js";
import { loadPostgresDriver, readPostgresOptions } from "../../src/storage/postgres/options.js";
import { PostgresPool } from "../../src/storage/postgres/pool.js";
import { FastPostgresSaver } from "../../src/storage/postgres/saver.js";
import type { Checkpointer } from "../../src/storage/contract/checkpointer.js";
import { newId } from "../../src/support/ids.js";
import { withPostgres } from "../helpers/postgres.js";
import { openTestService } from "../helpers/service.js";
import { askingGraph } from "./contract/graphs.js";

/** Writes with one saver and reads with the other, like a migrated application. */
class Moved extends BaseCheckpointSaver {
  readonly #before: BaseCheckpointSaver;
  readonly #after: BaseCheckpointSaver;

  constructor(before: BaseCheckpointSaver, after: BaseCheckpointSaver) {
    super(before.serde);
    this.#before = before;
    this.#after = after;
    this.getNextVersion = before.getNextVersion.bind(before);
  }

  getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.#after.getTuple(config);
  }

  list(...args: Parameters<BaseCheckpointSaver["list"]>): AsyncGenerator<CheckpointTuple> {
    return this.#after.list(...args);
  }

  put(...args: Parameters<BaseCheckpointSaver["put"]>) {
    return this.#before.put(...args);
  }

  putWrites(...args: Parameters<BaseCheckpointSaver["putWrites"]>) {
    return this.#before.putWrites(...args);
  }

  deleteThread(threadId: string) {
    return this.#after.deleteThread(threadId);
  }

  override getDeltaChannelHistory(...args: Parameters<BaseCheckpointSaver["getDeltaChannelHistory"]>) {
    return this.#after.getDeltaChannelHistory(...args);
  }
}

withPostgres("postgres, moved", (postgres) => {
  let pool: PostgresPool;
  beforeAll(async () => {
    await postgres.open();
    await postgres.close();
    const options = readPostgresOptions(postgres.options());
    pool = new PostgresPool(await loadPostgresDriver(), options, explainPostgres("test"));
    return () => pool.close();
  });
  const ours = () => new FastPostgresSaver(pool, postgres.schema);
  const official = () => new PostgresSaver(postgres.pool, undefined, { schema: postgres.schema });

  /** LangGraph's own conformance suite, for both directions of the migration. */
  function suite(create: () => BaseCheckpointSaver): void {
    const initializer = {
      checkpointerName: "@langchain/langgraph-checkpoint-postgres",
      createCheckpointer: async () => {
        await postgres.empty();
        return create();
      },
    };
    validate(initializer);
    deltaChannelHistoryTests(initializer);
  }

  describe("migration from the official saver", () => suite(() => new Moved(official(), ours())));
  describe("migration back to the official saver", () => suite(() => new Moved(ours(), official())));

  describe("threads of an application", () => {
    const at = (thread_id: string) => ({ configurable: { thread_id } });
    const graphOf = (saver: BaseCheckpointSaver) => askingGraph(saver as unknown as Checkpointer);

    it("continue on a server, and again in the application", async () => {
      const thread_id = newId();
      await graphOf(official()).invoke({ log: ["in"] }, at(thread_id));
      const { max_queued_runs: _, ...settings } = postgres.options();
      const graph = graphOf(official());
      graph.checkpointer = undefined;
      const { threads, runs, state } = await openTestService({ graphs: { ask: graph }, settings });
      // The application stores no thread rows: creating a thread with its id makes it available.
      await expect(threads.get(thread_id)).rejects.toMatchObject({ code: "thread_not_found" });
      await threads.create({ thread_id, metadata: { graph_id: "ask" } });
      expect((await state.get(thread_id)).next).toEqual(["ask"]);
      const resumed = await runs.create(thread_id, { assistant_id: "ask", command: { resume: "yes" } });
      expect(resumed.status).toBe("success");
      expect(await graphOf(official()).getState(at(thread_id))).toMatchObject({
        values: { log: ["in", "planned", "answer yes", "done"] },
        next: [],
      });
      const asked = await graphOf(official()).invoke({ log: ["again"] }, at(thread_id));
      const resumedAgain = await graphOf(official()).invoke(new Command({ resume: "no" }), at(thread_id));
      expect([asked.log.at(-1), resumedAgain.log.at(-1)]).toEqual(["planned", "done"]);
      expect((await state.get(thread_id)).next).toEqual([]);
    });
  });
});

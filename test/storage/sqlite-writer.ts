/**
 * A process that writes a thread, a run and a checkpoint per round until it is killed, and prints one line per round
 * after they are stored.
 */
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { openSqlite } from "../../src/storage/sqlite/open.js";
import { runRow, threadRow, tick } from "./contract/rows.js";

const { threads, runs, checkpointer } = await openSqlite({
  checkpointer_scheme: "sqlite",
  checkpointer_uri: process.argv[2],
  checkpointer_options: {},
  max_queued_runs: 1,
});

for (;;) {
  const thread = threadRow({ metadata: { writer: process.pid } });
  const run = runRow(thread.thread_id);
  await threads.insert(thread);
  await runs.insert(run, { updated_at: tick(), status: "busy" });
  const config = { configurable: { thread_id: thread.thread_id, run_id: run.run_id } };
  await checkpointer.put(config, emptyCheckpoint(), { source: "loop", step: 0, parents: {} }, {});
  process.stdout.write(`${thread.thread_id} ${run.run_id}\n`);
  await new Promise((resolve) => setImmediate(resolve));
}

/** Everything that can be asked of the service. */
import { Assistants } from "./assistants.js";
import type { OpsContext } from "./context.js";
import { Readiness } from "./readiness.js";
import { RunCancels } from "./cancel.js";
import { RunJoins } from "./follow.js";
import { RunStarter } from "./start-run.js";
import type { RunTasks } from "./live-runs.js";
import { Runs } from "./runs.js";
import { storeRoot } from "./thread-origin.js";
import { StatelessRuns } from "./stateless-runs.js";
import { States } from "./states.js";
import { StoreItems } from "./store-items.js";
import { Threads } from "./threads.js";

export interface Operations {
  readonly assistants: Assistants;
  readonly threads: Threads;
  readonly state: States;
  readonly runs: Runs;
  readonly joins: RunJoins;
  readonly cancels: RunCancels;
  readonly stateless: StatelessRuns;
  readonly store: StoreItems;
  readonly readiness: Readiness;
}

/** The operations of the context's caller. All share the runs of `tasks`. */
export function createOperations(context: OpsContext, tasks: RunTasks): Operations {
  const threads = new Threads(context, tasks);
  const runs = new Runs(context, new RunStarter(context, tasks));
  return {
    assistants: new Assistants(context),
    threads,
    state: new States(context),
    runs,
    joins: new RunJoins(context, tasks),
    cancels: new RunCancels(context, tasks),
    stateless: new StatelessRuns(context, runs, threads, tasks),
    readiness: new Readiness(context, tasks),
    store: new StoreItems(context.store, storeRoot(context)),
  };
}

import type { Static } from "@sinclair/typebox";
import { Type } from "../support/schema-builder.js";
import { StringEnum, Timestamp, Uuid } from "./common.js";
import { RUN_STATUSES } from "./run-status.js";
import { THREAD_STATUSES } from "./thread-fields.js";

const ChangedThread = Type.Object({
  thread_id: Uuid("Id of the thread."),
  status: StringEnum(THREAD_STATUSES, { description: "Status of the thread." }),
  updated_at: Timestamp("When the thread last changed."),
});

const ChangedRun = Type.Object({
  run_id: Uuid("Id of the run."),
  thread_id: Uuid("Thread that the run belongs to."),
  status: StringEnum(RUN_STATUSES, { description: "Status of the run." }),
  updated_at: Timestamp("When the run's row last changed."),
});

/** Data of a `changes` event. */
export const ChangesModel = Type.Object(
  {
    threads: Type.Array(ChangedThread, {
      description: "New and changed threads; empty in the first event.",
    }),
    runs: Type.Array(ChangedRun, { description: "New and changed runs of these threads." }),
    total: Type.Integer({
      minimum: 0,
      description: "Number of threads. It is lower than before if threads were deleted.",
    }),
    usage: Type.Boolean({
      description:
        "True if runs of this process called models since the previous event, also stateless runs, which are not listed: reload what is shown of the usage.",
    }),
    is_complete: Type.Boolean({
      description: "False if more threads or runs changed than are listed: reload what is shown.",
    }),
  },
  { title: "Changes", description: "Threads and runs that changed since the previous event." },
);
export type Changes = Static<typeof ChangesModel>;

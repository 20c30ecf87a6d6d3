import type { Static } from "@sinclair/typebox";
import { Type } from "../support/schema-builder.js";
import { Limit, Nullable, Offset, Timestamp, Uuid } from "./common.js";

export const DeadRunModel = Type.Object(
  {
    run_id: Uuid("Id of the run."),
    thread_id: Uuid("Thread of the run."),
    assistant_id: Type.String({ description: "Assistant, as given in the request." }),
    graph_id: Nullable(Type.String(), { description: "Graph of the run." }),
    created_at: Timestamp("When the run was accepted."),
    died_at: Timestamp("When the last attempt failed."),
    attempts: Type.Integer({ description: "Number of started executions." }),
    reason: Nullable(Type.String(), { description: "Why it is not retried: the `error` of the run." }),
  },
  {
    title: "DeadRunModel",
    description: "A run that failed because its processes crashed, and can be requeued.",
  },
);
export type DeadRun = Static<typeof DeadRunModel>;

export const DeadRunListQuery = Type.Object({
  limit: Type.Optional(Limit),
  offset: Type.Optional(Offset),
});
export type DeadRunFilter = Static<typeof DeadRunListQuery>;

/** Shared parts of the routes of runs. */
import type { Run } from "../../models/run.js";
import type { RunStream } from "../../models/run-stream.js";
import { Type } from "../../support/schema-builder.js";

/** Path of a run, never with a mount prefix, because SDK clients prepend their own base URL. */
export const pathOf = (run: Pick<Run, "run_id" | "thread_id">) =>
  `/threads/${run.thread_id}/runs/${run.run_id}`;

export const ContentLocation = Type.String({
  description: "Path of the run; SDK clients read the run id from it.",
});

/**
 * SDK clients reconnect to the Location of a stream, so only runs that continue without their
 * client have one.
 */
export const streamHeaders = ({ run, resumable }: RunStream): Record<string, string> => ({
  "Content-Location": pathOf(run),
  ...(resumable && { Location: `${pathOf(run)}/stream` }),
});

/** Header for safe retries of a request. */
export const IdempotencyKey = Type.Optional(
  Type.String({
    description:
      "Idempotency key of up to 255 characters: repeating the request with the same key within 24 hours returns the same run.",
  }),
);

export const createErrors = [
  "assistant_not_found",
  "thread_not_found",
  "checkpoint_not_found",
  "unsupported_option",
  "thread_busy",
  "too_many_runs",
  "graph_changed",
  "graph_not_loaded",
] as const;

/** Errors for objects that do not exist: what was read, and the command that lists what exists. */
import type { ThreadState } from "../../models/state.js";
import { GraphServeError } from "../../support/errors.js";
import type { ErrorCode } from "../../support/errors/codes.js";
import type { Client } from "../../client/client.js";
import { walkStates } from "../../client/walk.js";
import { type GlobalFlags, placeWords, type PlaceFlags } from "./options.js";

const LISTS: Partial<Record<ErrorCode, string>> = {
  thread_not_found: "threads list",
  run_not_found: "runs list",
  cron_not_found: "crons list",
  webhook_not_found: "webhooks list",
};

/** Adds the storage or server, and the list command, to an error for a missing object; returns other errors as they are. */
export function locatedNotFound(
  error: unknown,
  { place, url }: { place: string; url?: string },
  flags: GlobalFlags & PlaceFlags,
): unknown {
  if (!(error instanceof GraphServeError)) return error;
  const list = error instanceof MissingCheckpoint ? `history ${error.threadId}` : LISTS[error.code];
  if (list === undefined) return error;
  const where = url === undefined ? `in ${place}` : `on ${place}`;
  const command = ["graph-serve", list, ...placeWords(flags)].join(" ");
  const hint = error.hint ?? command;
  return new GraphServeError(error.code, `${error.message} ${where}`, { hint, cause: error });
}

class MissingCheckpoint extends GraphServeError {
  readonly threadId: string;

  constructor(threadId: string, at: string, steps: string) {
    super(
      "checkpoint_not_found",
      `checkpoint ${JSON.stringify(at)} does not exist: thread ${threadId} has ${steps}`,
    );
    this.threadId = threadId;
  }
}

/** Maximum number of checkpoints that are read for the range of steps. */
const MOST_STATES = 200;

/**
 * The error for a checkpoint that does not exist, with the steps that do.
 * @throws NotFoundError (`thread_not_found`)
 */
export async function missingCheckpoint(
  client: Client,
  threadId: string,
  at: string,
  checkpoint_ns: string,
): Promise<GraphServeError> {
  const steps: number[] = [];
  let count = 0;
  const states = walkStates(client, threadId, { checkpoint: { checkpoint_ns }, limit: MOST_STATES });
  for await (const state of states) {
    count += 1;
    const step = namedStep(state);
    if (step !== undefined) steps.push(step);
  }
  if (count === 0) return new MissingCheckpoint(threadId, at, "no checkpoints");
  const [first, last] = [Math.min(...steps), Math.max(...steps)];
  if (steps.length === 0) return new MissingCheckpoint(threadId, at, "only its input, which is -1");
  const range =
    count === MOST_STATES
      ? `steps up to ${last}`
      : first === last
        ? `only the step ${last}`
        : `the steps ${first} to ${last}`;
  return new MissingCheckpoint(threadId, at, range);
}

/** The step by which a checkpoint can be named; the input has none. */
function namedStep({ metadata: { step } }: Pick<ThreadState, "metadata">): number | undefined {
  return typeof step === "number" && step >= 0 ? step : undefined;
}

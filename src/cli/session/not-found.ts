/** Errors for objects that do not exist: what was read, and the command that lists what exists. */
import type { ThreadState } from "../../models/state.js";
import { GraphServeError, InvalidRequestError } from "../../support/errors.js";
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

/**
 * Adds the storage or server, and the command that lists what it has, to an error for an object that does not exist.
 * Returns other errors as they are.
 */
export function locatedNotFound(
  error: unknown,
  { place, url }: { place: string; url?: string },
  flags: GlobalFlags & PlaceFlags,
): unknown {
  if (!(error instanceof GraphServeError)) return error;
  if (error instanceof NotAnId) return error.at(placeWords(flags));
  const list = error instanceof MissingCheckpoint ? `history ${error.threadId}` : LISTS[error.code];
  if (list === undefined) return error;
  const where = url === undefined ? `in ${place}` : `on ${place}`;
  const command = ["graph-serve", list, ...placeWords(flags)].join(" ");
  const hint = error.hint ?? command;
  return new GraphServeError(error.code, `${error.message} ${where}`, { hint, cause: error });
}

export type IdKind = "thread" | "run" | "cron" | "assistant" | "webhook" | "checkpoint";

/** The error for a text that cannot be an id, with the command that lists the ids of this storage or server. */
export class NotAnId extends InvalidRequestError {
  readonly #of: readonly [what: IdKind, text: string, use: string];

  constructor(what: IdKind, text: string, use: string, places: readonly string[] = []) {
    const list =
      what === "checkpoint"
        ? "name a step, -1 for the latest, or an id that graph-serve history prints"
        : `list the ${what}s: ${["graph-serve", `${what}s list`, ...places].join(" ")}`;
    super(`${what} ${JSON.stringify(text)} is neither an id nor the beginning of one`, undefined, {
      hint: `${use}; ${list}`,
    });
    this.#of = [what, text, use];
  }

  at(places: readonly string[]): NotAnId {
    return new NotAnId(...this.#of, places);
  }
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

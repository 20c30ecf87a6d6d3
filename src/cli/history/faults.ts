/** Error details of a thread's failed runs, if the client reports them; a checkpoint stores only the message. */
import type { Client } from "../../client/client.js";
import { walkRuns } from "../../client/walk.js";
import type { Run } from "../../models/run.js";
import type { RunFault } from "../../support/run-fault.js";

/** Maximum number of failed runs searched for an error that the checkpoint's own run did not throw. */
const MOST_RUNS = 100;

export class RunFaults {
  readonly #client: Client;
  readonly #threadId: string;
  readonly #read = new Map<string, Promise<RunFault | undefined>>();
  #failed: Promise<string[]> | undefined;

  constructor(client: Client, threadId: string) {
    this.#client = client;
    this.#threadId = threadId;
  }

  /**
   * The error with this message, from the run that wrote the checkpoint or a run that resumed from it; undefined if not
   * found.
   */
  async find(runId: string | undefined, error: string): Promise<RunFault | undefined> {
    if (!this.#client.fault) return undefined;
    const message = messageOf(error);
    const own = runId === undefined ? undefined : partWith(message, await this.#faultOf(runId));
    return own ?? this.#findElsewhere(message);
  }

  async #findElsewhere(message: string): Promise<RunFault | undefined> {
    for (const id of await (this.#failed ??= this.#failedRuns())) {
      const found = partWith(message, await this.#faultOf(id));
      if (found) return found;
    }
    return undefined;
  }

  #faultOf(runId: string): Promise<RunFault | undefined> {
    const read = this.#read.get(runId) ?? faultOf(this.#client, { thread_id: this.#threadId, run_id: runId });
    this.#read.set(runId, read);
    return read;
  }

  async #failedRuns(): Promise<string[]> {
    const ids: string[] = [];
    const failed = walkRuns(this.#client, this.#threadId, { status: "error", limit: MOST_RUNS });
    for await (const { run_id } of failed) ids.push(run_id);
    return ids;
  }
}

/** The error of a run; undefined if it is not stored or not reported. */
export async function faultOf(
  client: Pick<Client, "fault">,
  { thread_id, run_id }: Pick<Run, "thread_id" | "run_id">,
): Promise<RunFault | undefined> {
  try {
    return await client.fault?.(thread_id, run_id);
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === "run_not_found" || code === "invalid_request") return undefined;
    throw error;
  }
}

/** The error of a task is `{"message", "name"}` as JSON text. */
function messageOf(error: string): string {
  try {
    const { message } = JSON.parse(error) as { message?: unknown };
    return typeof message === "string" ? message : error;
  } catch {
    return error;
  }
}

/** The error with this message: the fault itself or one thrown together with it. */
const partWith = (message: string, fault: RunFault | undefined): RunFault | undefined =>
  fault && [fault, ...(fault.errors ?? [])].find((part) => message.startsWith(part.message));

/** Whether runs can be taken: for those who decide where requests go. */
import { StorageUnavailableError } from "../support/errors.js";
import { atMost } from "../support/pause.js";
import type { Storage } from "../storage/storage.js";
import type { EngineContext } from "./live-runs.js";

/** Longest wait for the storage, in milliseconds: less than what probes usually wait themselves. */
const DEADLINE_MS = 2_000;
/** No thread has this id; looking for it costs an index look-up. */
const NO_THREAD = "00000000-0000-0000-0000-000000000000";

/** A look at each storage, however many ask meanwhile: one that hangs must not take up its connections. */
const looks = new WeakMap<Storage, Promise<void>>();

export class Readiness {
  readonly #context: EngineContext;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** Whether frames of runs reach other processes; undefined where they are not shared. */
  get frames(): "shared" | "away" | undefined {
    const { frames } = this.#context;
    return frames && (frames.isAway ? "away" : "shared");
  }

  /**
   * Make sure that runs are accepted, and that both stores answer within two seconds.
   * @throws ShuttingDownError (`shutting_down`), StorageUnavailableError (`storage_unavailable`)
   */
  async check(): Promise<void> {
    this.#context.live.stopping.throwIfAborted();
    const hasAnswered = look(this.#context.storage).then(() => true);
    if (!(await atMost(DEADLINE_MS, hasAnswered)))
      throw new StorageUnavailableError(`the storage has not answered within ${DEADLINE_MS / 1000} s`);
    this.#context.live.stopping.throwIfAborted();
  }
}

function look(storage: Storage): Promise<void> {
  const underWay = looks.get(storage);
  if (underWay) return underWay;
  const started = lookNow(storage).finally(() => looks.delete(storage));
  // Whoever asked may have given up by the time it fails.
  started.catch(() => undefined);
  looks.set(storage, started);
  return started;
}

async function lookNow({ threads, checkpointer }: Storage): Promise<void> {
  await Promise.all([
    threads.get(NO_THREAD),
    checkpointer.getTuple({ configurable: { thread_id: NO_THREAD, checkpoint_ns: "" } }),
  ]);
}

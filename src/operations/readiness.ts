/** Whether runs can be taken: for those who decide where requests go. */
import { StorageUnavailableError } from "../support/errors.js";
import { withTimeout } from "../support/pause.js";
import type { Storage } from "../storage/contract/storage.js";
import { clockDifference } from "../context/clock.js";
import type { EngineContext } from "../runs/live-runs.js";

/** Longest wait for the storage, in milliseconds: less than what probes usually wait themselves. */
const DEADLINE_MS = 2_000;
/** No thread has this id; looking for it costs an index look-up. */
const NO_THREAD = "00000000-0000-0000-0000-000000000000";

/** A look at each storage, however many ask meanwhile: one that hangs must not take up its connections. */
const looks = new WeakMap<Storage, Promise<Look>>();

interface Look {
  /** See `clockDifference`. */
  clock: number | undefined;
}

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
   * Make sure that runs are accepted, that both stores answer within two seconds, and that the last write succeeded.
   * @returns what `/ready` says beside that
   * @throws ShuttingDownError (`shutting_down`), StorageUnavailableError (`storage_unavailable`)
   */
  async check(): Promise<Look> {
    this.#context.live.stopping.throwIfAborted();
    const looked = await withTimeout(DEADLINE_MS, look(this.#context.storage));
    if (!looked)
      throw new StorageUnavailableError(`the storage has not answered within ${DEADLINE_MS / 1000} s`);
    this.#context.live.stopping.throwIfAborted();
    const { writeFault } = this.#context.live;
    // A full disk refuses writes and answers reads.
    if (writeFault)
      throw new StorageUnavailableError(writeFault.message, { hint: writeFault.hint, cause: writeFault });
    return looked;
  }
}

function look(storage: Storage): Promise<Look> {
  const underWay = looks.get(storage);
  if (underWay) return underWay;
  const started = lookNow(storage).finally(() => looks.delete(storage));
  // Whoever asked may have given up by the time it fails.
  started.catch(() => undefined);
  looks.set(storage, started);
  return started;
}

async function lookNow(storage: Storage): Promise<Look> {
  const { threads, checkpointer } = storage;
  const [clock] = await Promise.all([
    clockDifference(storage),
    threads.get(NO_THREAD),
    checkpointer.getTuple({ configurable: { thread_id: NO_THREAD, checkpoint_ns: "" } }),
  ]);
  return { clock };
}

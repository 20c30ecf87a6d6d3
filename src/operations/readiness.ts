/** Readiness for load balancers: whether this process can accept runs. */
import { StorageUnavailableError } from "../support/errors.js";
import { withTimeout } from "../support/pause.js";
import type { Storage } from "../storage/contract/storage.js";
import { clockDifference } from "../context/clock.js";
import type { EngineContext } from "../runs/live-runs.js";

/** Time limit for the storage, in milliseconds: shorter than the usual timeout of probes. */
const DEADLINE_MS = 2_000;
/** An id that no thread has: querying it costs one index lookup. */
const NO_THREAD = "00000000-0000-0000-0000-000000000000";

/** One check per storage, shared by concurrent probes: a storage that hangs must not use up its connections. */
const checks = new WeakMap<Storage, Promise<StorageCheck>>();

interface StorageCheck {
  /** See `clockDifference`. */
  clock: number | undefined;
}

export class Readiness {
  readonly #context: EngineContext;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** Whether frames reach other processes; undefined if frames are not shared. */
  get frames(): "shared" | "away" | undefined {
    const { frames } = this.#context;
    return frames && (frames.isAway ? "away" : "shared");
  }

  /**
   * Checks that runs are accepted, that both stores answer within two seconds, and that the last write succeeded.
   * @returns further data for `/ready`
   * @throws ShuttingDownError (`shutting_down`), StorageUnavailableError (`storage_unavailable`)
   */
  async check(): Promise<StorageCheck> {
    this.#context.live.stopping.throwIfAborted();
    const checked = await withTimeout(DEADLINE_MS, checkStorage(this.#context.storage));
    if (!checked)
      throw new StorageUnavailableError(`the storage has not answered within ${DEADLINE_MS / 1000} s`);
    this.#context.live.stopping.throwIfAborted();
    const { writeFault } = this.#context.live;
    // A full disk rejects writes but still serves reads.
    if (writeFault)
      throw new StorageUnavailableError(writeFault.message, { hint: writeFault.hint, cause: writeFault });
    return checked;
  }
}

function checkStorage(storage: Storage): Promise<StorageCheck> {
  const inProgress = checks.get(storage);
  if (inProgress) return inProgress;
  const started = startCheck(storage).finally(() => checks.delete(storage));
  // The check may fail after all probes have timed out.
  started.catch(() => undefined);
  checks.set(storage, started);
  return started;
}

async function startCheck(storage: Storage): Promise<StorageCheck> {
  const { threads, checkpointer } = storage;
  const [clock] = await Promise.all([
    clockDifference(storage),
    threads.get(NO_THREAD),
    checkpointer.getTuple({ configurable: { thread_id: NO_THREAD, checkpoint_ns: "" } }),
  ]);
  return { clock };
}

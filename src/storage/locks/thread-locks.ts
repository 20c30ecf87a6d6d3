import { ThreadBusyError } from "../../support/errors.js";
import type { AcquireOptions, ThreadLease, ThreadLocks } from "../contract/locks.js";

type Grant = (lease: ThreadLease) => void;

interface ThreadLocksOptions {
  /** Maximum number of callers that wait for one thread. */
  maxWaiting: number;
  /** Called synchronously when a lease is granted. */
  onGrant?: (threadId: string) => void;
}

/**
 * Creates thread locks for a single process.
 * @param options maximum number of callers that wait for one thread, and a callback for each lease
 * @returns locks that grant leases in order of arrival
 * @example
 * ```ts
 * import { createThreadLocks } from "graph-serve";
 *
 * const locks = createThreadLocks({ maxWaiting: 10 });
 * const lease = await locks.acquire("thread-1", { wait: true });
 * await locks.acquire("thread-1", { wait: false }); // => undefined
 * await lease?.release();
 * ```
 */
export function createThreadLocks({ maxWaiting, onGrant }: ThreadLocksOptions): ThreadLocks {
  /** Waiters of each locked thread; a thread that is not locked has no entry. */
  const queues = new Map<string, Grant[]>();

  function lease(threadId: string): ThreadLease {
    let released = false;
    onGrant?.(threadId);
    return {
      release() {
        if (released) return;
        released = true;
        const next = queues.get(threadId)?.shift();
        if (next) next(lease(threadId));
        else queues.delete(threadId);
      },
    };
  }

  function wait(queue: Grant[], { first, signal }: AcquireOptions): Promise<ThreadLease> {
    return new Promise((resolve, reject) => {
      const grant: Grant = (granted) => {
        signal?.removeEventListener("abort", leave);
        resolve(granted);
      };
      const leave = () => {
        queue.splice(queue.indexOf(grant), 1);
        reject(signal?.reason as Error);
      };
      if (first) queue.unshift(grant);
      else queue.push(grant);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  return {
    async acquire(threadId, options) {
      options.signal?.throwIfAborted();
      const queue = queues.get(threadId);
      if (!queue) {
        queues.set(threadId, []);
        return lease(threadId);
      }
      if (!options.wait) return undefined;
      if (!options.first && queue.length >= maxWaiting) {
        throw new ThreadBusyError(threadId, `${queue.length} callers already wait for it`);
      }
      return wait(queue, options);
    },
    waiting: (threadId) => queues.get(threadId)?.length ?? 0,
  };
}

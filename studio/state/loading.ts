/** State of a request: in flight, loaded or failed. */
import { batch, type Signal, signal } from "@preact/signals";
import type { ApiError } from "../api.js";

export interface Loading<T> {
  value: Signal<T | undefined>;
  error: Signal<ApiError | undefined>;
  busy: Signal<boolean>;
}

export const loading = <T>(): Loading<T> => ({
  value: signal<T | undefined>(undefined),
  error: signal<ApiError | undefined>(undefined),
  busy: signal(false),
});

/** Resolves when no request is in flight. */
export async function idle({ busy }: Pick<Loading<unknown>, "busy">): Promise<void> {
  while (busy.peek())
    await new Promise<void>((resolve) => {
      const stop = busy.subscribe((isBusy) => {
        if (isBusy) return;
        stop();
        resolve();
      });
    });
}

/** Await `work` and keep its result, unless `isStale` says that it is no longer needed. */
export async function load<T>(
  target: Loading<T>,
  work: () => Promise<T>,
  isStale: () => boolean = () => false,
): Promise<void> {
  target.busy.value = true;
  try {
    const value = await work();
    if (!isStale())
      batch(() => {
        target.value.value = value;
        target.error.value = undefined;
      });
  } catch (error) {
    if (!isStale()) target.error.value = error as ApiError;
  } finally {
    if (!isStale()) target.busy.value = false;
  }
}

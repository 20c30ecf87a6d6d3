/** Timers that wait for the test instead of the clock. */
import { onTestFinished, vi } from "vitest";

/**
 * Until the end of the test, timers of `leastMs` or longer do not fire by themselves. Shorter ones do.
 * @returns `fire`, which fires the timers that are set
 */
export function holdTimers(leastMs: number): { fire: () => void } {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const held = new Map<unknown, () => void>();
  const setting = vi.spyOn(globalThis, "setTimeout").mockImplementation(((
    work: (...args: unknown[]) => void,
    ms = 0,
    ...args: unknown[]
  ) => {
    if (ms < leastMs) return set(work, ms, ...args);
    // Never fires: it is cleared at the end of the test, at the latest.
    const timer = set(() => undefined, 2 ** 31 - 1).unref();
    held.set(timer, () => work(...args));
    return timer;
  }) as typeof setTimeout);
  const clearing = vi.spyOn(globalThis, "clearTimeout").mockImplementation((timer) => {
    held.delete(timer);
    clear(timer);
  });
  onTestFinished(() => {
    setting.mockRestore();
    clearing.mockRestore();
    for (const timer of held.keys()) clear(timer as NodeJS.Timeout);
  });
  return {
    fire: () => {
      for (const [timer, work] of [...held]) {
        held.delete(timer);
        clear(timer as NodeJS.Timeout);
        work();
      }
    },
  };
}

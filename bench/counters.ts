/** Deterministic costs of this process: promises, writes to sockets, system calls, allocated bytes. */
import { createHook } from "node:async_hooks";
import { readFileSync } from "node:fs";
import { Socket } from "node:net";
import { constants, PerformanceObserver } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

export interface Counts {
  promises: number;
  /** Calls that write to a socket; each is at least one system call. */
  sends: number;
  /**
   * System calls that read or write files, pipes and sockets, in all threads. The kernel counts these; others, such as
   * `epoll_wait`, depend on the scheduler. Undefined on systems without /proc.
   */
  systemCalls: number | undefined;
  /** Undefined if garbage was collected meanwhile. */
  allocatedBytes: number | undefined;
}

type Write = (...args: unknown[]) => unknown;
const sockets = Socket.prototype as unknown as Record<"_write" | "_writev", Write>;

/** Counts from `start` to `stop`. Slows the process down: not for use while time is measured. */
export class Counters {
  #promises = 0;
  #sends = 0;
  #systemCalls: number | undefined;
  #collections = 0;
  #heapUsed = 0;
  readonly #hook = createHook({
    init: (_id, type) => {
      if (type === "PROMISE") this.#promises += 1;
    },
  });
  readonly #observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { detail } = entry as { detail?: unknown };
      const { kind } = detail as { kind?: number };
      if (kind !== constants.NODE_PERFORMANCE_GC_WEAKCB) this.#collections += 1;
    }
  });
  #restore: (() => void) | undefined;

  async start(): Promise<void> {
    await collectGarbage();
    this.#promises = this.#sends = this.#collections = 0;
    this.#observer.observe({ entryTypes: ["gc"] });
    const original = { ...pick(sockets) };
    for (const name of ["_write", "_writev"] as const) {
      wrap(name, original[name], () => (this.#sends += 1));
    }
    this.#restore = () => Object.assign(sockets, original);
    this.#systemCalls = systemCalls();
    this.#heapUsed = heapBytes();
    this.#hook.enable();
  }

  async stop(): Promise<Counts> {
    this.#hook.disable();
    const allocated = heapBytes() - this.#heapUsed;
    const calls = systemCalls();
    const counts = {
      promises: this.#promises,
      sends: this.#sends,
      systemCalls: calls === undefined ? undefined : calls - (this.#systemCalls ?? 0),
    };
    this.#restore?.();
    // Entries of collections arrive in a later turn.
    await sleep(20);
    this.#observer.disconnect();
    return { ...counts, allocatedBytes: this.#collections === 0 ? allocated : undefined };
  }
}

function wrap(name: "_write" | "_writev", write: Write, note: () => void): void {
  sockets[name] = function (this: unknown, ...args: unknown[]) {
    note();
    return write.apply(this, args);
  };
}

const pick = ({ _write, _writev }: typeof sockets) => ({ _write, _writev });

/** Since the process started. */
function systemCalls(): number | undefined {
  if (process.platform !== "linux") return undefined;
  const io = readFileSync("/proc/self/io", "utf8");
  const count = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(io)?.[1]);
  return count("syscr") + count("syscw");
}

const heapBytes = (): number => process.memoryUsage().heapUsed;

async function collectGarbage(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    await sleep(20);
    (globalThis as { gc?: () => void }).gc?.();
  }
}

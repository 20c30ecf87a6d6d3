import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { StorageUnavailableError } from "../../src/errors.js";
import { newId } from "../../src/ids.js";
import { openService, type Service } from "../../src/service.js";
import { openStorage } from "../../src/storage/open.js";
import type { Storage } from "../../src/storage/storage.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { readAll } from "../helpers/service.js";

/** Fails the call that `n` counts down to, over every method of both stores. */
class FailingStorage {
  calls = 0;
  failAt = Infinity;
  /** Name of the method that failed. */
  failed: string | undefined;
  readonly storage: Storage;

  constructor(inner: Storage) {
    this.storage = {
      scheme: inner.scheme,
      durable: inner.durable,
      metadata: this.#watch(inner.metadata),
      checkpointer: this.#watch(inner.checkpointer),
      locks: inner.locks,
      close: () => inner.close(),
    };
  }

  #watch<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (object, name) => {
        const value: unknown = Reflect.get(object, name, object);
        if (typeof value !== "function" || !COUNTED.has(String(name)))
          return typeof value === "function" ? (value.bind(object) as unknown) : value;
        return (...args: unknown[]): unknown => {
          this.calls += 1;
          if (this.calls === this.failAt) {
            this.failed = String(name);
            return Promise.reject(new StorageUnavailableError("the storage is away"));
          }
          return (value as (...args: unknown[]) => unknown).apply(object, args);
        };
      },
    });
  }
}

const COUNTED = new Set([
  "insertThread",
  "getThread",
  "updateThread",
  "insertRun",
  "updateRun",
  "settleRuns",
  "getTuple",
  "put",
  "putWrites",
]);

const say = { assistant_id: "chat", input: { messages: ["hi"] } };

/** A blocking run, a stream, an interrupt and its answer; resolves with how each call was answered. */
async function scenario(service: Service, thread_id: string): Promise<string[]> {
  const answers: string[] = [];
  const answered = async (call: Promise<string>) => {
    answers.push(
      await call.catch((error: unknown) =>
        error instanceof StorageUnavailableError ? error.code : `${String(error)}`,
      ),
    );
  };
  const streamed = async (request: typeof say) => {
    const events = await readAll(await service.runs.stream(thread_id, request));
    return String(events.at(-1)?.event);
  };
  await answered(service.runs.create(thread_id, say).then(({ status }) => status));
  await answered(streamed(say));
  await answered(
    service.runs
      .create(thread_id, { assistant_id: "hitl", input: { topic: "x" } })
      .then(({ status }) => status),
  );
  await answered(
    service.runs
      .create(thread_id, { assistant_id: "hitl", command: { resume: "yes" } })
      .then(({ status }) => status),
  );
  return answers;
}

async function backend(scheme: string) {
  const folder = await mkdtemp(join(tmpdir(), "graph-serve-faults-"));
  let files = 0;
  return {
    open: () =>
      openStorage({
        checkpointer_scheme: scheme,
        ...(scheme === "sqlite" && { checkpointer_uri: join(folder, `${files++}.sqlite`) }),
        checkpointer_options: {},
        max_queued_runs: 10,
      }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

describe.each(["memory", "sqlite"])("on %s", (scheme) => {
  it("survives the failure of any storage call", { timeout: 120_000 }, async () => {
    const { open, remove } = await backend(scheme);
    const failures = new Map<string, number>();
    let n = 0;
    let failed: string | undefined;
    do {
      n += 1;
      const failing = new FailingStorage(await open());
      const service = await openService({ graphs: { chat, hitl }, storage: failing.storage });
      const { thread_id } = await service.threads.create({ thread_id: newId() });
      failing.calls = 0;
      failing.failAt = n;
      const answers = await scenario(service, thread_id);
      ({ failed } = failing);
      failing.failAt = Infinity;
      if (failed) failures.set(failed, (failures.get(failed) ?? 0) + 1);
      const context = `call ${n}, ${failed ?? "none"}: ${answers.join(", ")}`;

      for (const answer of answers) {
        expect(["success", "interrupted", "error", "end", "storage_unavailable"], context).toContain(answer);
      }
      if (!failed) expect(answers).toEqual(["success", "end", "interrupted", "success"]);
      expect(failing.storage.locks.isHeld(thread_id), context).toBe(false);
      const runs = await service.runs.list(thread_id, { limit: 100 });
      for (const { status } of runs) expect(["success", "interrupted", "error"], context).toContain(status);
      expect((await service.threads.get(thread_id)).status, context).not.toBe("busy");
      const after = await service.runs.create(thread_id, say);
      expect(after.status, context).toBe("success");
      await service.close(0);
    } while (failed);
    await remove();
    expect(n).toBeGreaterThan(30);
    expect([...failures.keys()].sort()).toEqual(
      [...COUNTED].filter((name) => !["insertThread", "updateThread"].includes(name)).sort(),
    );
  });
});

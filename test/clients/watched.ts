/** A server whose storage reports what happens to runs, so that tests wait for events instead of time. */
import { EventEmitter, once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished, vi } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { openService } from "../../src/service/open.js";
import { openStorage } from "../../src/storage/open.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { serve } from "../helpers/app.js";
import { deferred } from "../helpers/deferred.js";
import { clientOf, graphs } from "./open.js";

/** `queued`: a caller waits for a thread; `left`: it stopped waiting; `settled`: the end of a run is stored. */
export type Happening = "queued" | "left" | "settled";

export async function openWatched(settings: Partial<Settings> = {}) {
  const storage = await openStorage({
    checkpointer_scheme: "memory",
    checkpointer_options: {},
    max_queued_runs: 100,
  });
  const happenings = new EventEmitter();
  watchLocks(storage, happenings);
  watchSettlements(storage, happenings);
  const service = await openService({ graphs, storage, settings });
  onTestFinished(() => service.close(0));
  const server = await serve(service);
  /** Resolves at the next such event; call it before the action that causes the event. */
  const next = async (happening: Happening): Promise<void> => {
    await once(happenings, happening);
  };
  return { storage, service, server, client: clientOf(server.url), next };
}

function watchLocks({ locks }: Storage, happenings: EventEmitter): void {
  const acquire = locks.acquire.bind(locks);
  vi.spyOn(locks, "acquire").mockImplementation(async (threadId, options) => {
    const lease = acquire(threadId, options);
    if (options.wait) happenings.emit("queued");
    lease.catch(() => happenings.emit("left"));
    return lease;
  });
}

function watchSettlements({ runs }: Storage, happenings: EventEmitter): void {
  const settle = runs.settle.bind(runs);
  vi.spyOn(runs, "settle").mockImplementation(async (outcomes) => {
    await settle(outcomes);
    happenings.emit("settled");
  });
}

/** Blocks the next run before its row is stored. */
export function holdNextRow({ runs }: Storage) {
  const reached = deferred();
  const held = deferred();
  const insert = runs.insert.bind(runs);
  vi.spyOn(runs, "insert").mockImplementationOnce(async (row, thread) => {
    reached.resolve();
    await held.promise;
    return insert(row, thread);
  });
  return { reached: reached.promise, release: () => held.resolve() };
}

/** Blocks the next queued run after it has acquired its thread and before it starts. */
export function holdNextWaking({ threads }: Storage) {
  const reached = deferred();
  const held = deferred();
  const update = threads.update.bind(threads);
  vi.spyOn(threads, "update").mockImplementation(async (threadId, patch) => {
    if (patch.status === "busy") {
      reached.resolve();
      await held.promise;
    }
    return update(threadId, patch);
  });
  return { reached: reached.promise, release: () => held.resolve() };
}

/** Sends a POST over a bare socket, which the test can destroy at any time. */
export function rawPost(url: string, path: string, body: unknown): Socket {
  const { hostname, port, host } = new URL(url);
  const text = JSON.stringify(body);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${text}`);
  return socket;
}

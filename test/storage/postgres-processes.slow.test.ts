/** Several processes on one PostgreSQL schema: startup, a killed process, and a server that stops responding. */
import { afterEach, expect, it, vi } from "vitest";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { POSTGRES_SCHEMA_VERSION } from "../../src/storage/postgres/schema.js";
import type { ThreadLease } from "../../src/storage/contract/locks.js";
import { withOwnSchema } from "../helpers/postgres.js";
import { StorageProcess } from "../helpers/postgres-processes.js";
import { TcpRelay } from "../helpers/tcp-relay.js";
import { threadRow } from "./contract/rows.js";

/** Longest time, in ms, until a silent server counts as lost: it frees the locks after 15 s. */
const NOTICED_MS = 10_000;

const lost = (lease: ThreadLease | undefined) =>
  new Promise<void>((resolve) => lease?.lost?.addEventListener("abort", () => resolve(), { once: true }));

withOwnSchema("processes on one postgres schema", (postgres) => {
  const processes: StorageProcess[] = [];
  afterEach(async () => {
    vi.useRealTimers();
    for (const child of processes.splice(0)) await child.kill();
    await postgres.close();
  });

  async function startProcesses(count: number): Promise<StorageProcess[]> {
    const started = await Promise.all(
      Array.from({ length: count }, () => StorageProcess.start(postgres.options())),
    );
    processes.push(...started);
    await Promise.all(started.map((child) => child.told("open")));
    return started;
  }

  it("four processes create the schema concurrently", async () => {
    await startProcesses(4);
    expect(await postgres.sql(`SELECT version FROM "${postgres.schema}".gs_schema`)).toEqual([
      { version: POSTGRES_SCHEMA_VERSION },
    ]);
    const { threads } = await postgres.open();
    expect(await threads.insert(threadRow())).toBe(true);
  });

  it("two processes never hold the same thread together", async () => {
    const [one, two] = (await startProcesses(2)) as [StorageProcess, StorageProcess];
    const storage = await postgres.open();
    one.tell({ acquire: "t" });
    await one.told("acquired t");
    two.tell({ acquire: "t" });
    expect(await storage.locks.acquire("t", { wait: false })).toBeUndefined();
    one.tell({ release: "t" });
    await two.told("acquired t");
    expect(await storage.locks.acquire("t", { wait: false })).toBeUndefined();
    two.tell({ release: "t" });
    await two.told("released t");
    expect(await storage.locks.acquire("t", { wait: false })).toBeDefined();
  });

  it("a killed process releases its threads", async () => {
    const [dying] = (await startProcesses(1)) as [StorageProcess];
    const storage = await postgres.open();
    dying.tell({ acquire: "t" });
    await dying.told("acquired t");
    const waiting = storage.locks.acquire("t", { wait: true });
    await dying.kill();
    expect(await waiting).toBeDefined();
  });

  it("a silent lock connection is detected and reported", async () => {
    const { relay, uri } = await TcpRelay.before(postgres.uri, 5432);
    // The session's heartbeat query.
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const storage = await postgres.open({ lock_uri: uri });
    const lease = await storage.locks.acquire("t", { wait: false });
    relay.block();
    const gone = lost(lease);
    await vi.advanceTimersByTimeAsync(NOTICED_MS);
    await gone;
    vi.useRealTimers();
    const error = await storage.locks.acquire("u", { wait: false }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StorageUnavailableError);
    expect(error).toHaveProperty("message", expect.stringMatching(/^(PostgreSQL at|the thread locks)/));
    relay.unblock();
    await lease?.release();
    await (await storage.locks.acquire("t", { wait: true }))?.release();
    await storage.close();
    postgres.forget(storage);
    await relay.close();
  });
});

/** Runs tests on every storage backend available on this machine. */
import { fileURLToPath } from "node:url";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { openStorage } from "../../src/storage/open.js";
import type { Storage, StorageOptions } from "../../src/storage/contract/storage.js";
import { withMongodb } from "./mongodb.js";
import { withPostgres } from "./postgres.js";
import { withRedis } from "./redis.js";
import { describeSqlite } from "./with-sqlite.js";

export type StorageSettings = Pick<
  StorageOptions,
  "checkpointer_scheme" | "checkpointer_uri" | "checkpointer_options"
>;

export interface Backend {
  name: string;
  /** Whether rows and checkpoints outlive the storage instance that wrote them. */
  durable: boolean;
  settings: StorageSettings;
  /** Base folder of relative paths in the settings. */
  cwd: string;
}

/** For tests of rules that do not depend on the backend. */
export const MEMORY: Backend = {
  name: "memory",
  durable: false,
  settings: { checkpointer_scheme: "memory", checkpointer_options: {} },
  cwd: ".",
};

const CUSTOM = fileURLToPath(new URL("../fixtures/storage", import.meta.url));

/** Declares a suite per backend. `backend()` is available in hooks and tests and always returns the same storage. */
export type OnBackends = (title: string, declare: (backend: () => Backend) => void) => void;

/**
 * Declares tests for memory, SQLite, PostgreSQL, MongoDB, Redis and a custom storage. Backends that this
 * machine lacks are skipped with a message.
 */
export const onEveryBackend: OnBackends = (title, declare) => {
  onBackendsButMongodb(title, declare);
  onMongodb(title, declare);
};

/**
 * For long tests: on the MongoDB double they take twice as long as on all other backends together, so use
 * `onMongodb` in a slow test.
 */
export const onBackendsButMongodb: OnBackends = (title, declare) => {
  const plain = (name: string, settings: Partial<StorageSettings>, cwd = ".") =>
    describe(`${title} on ${name}`, () => {
      const all = { checkpointer_scheme: name, checkpointer_options: {}, ...settings };
      declare(() => ({ name, durable: false, settings: all, cwd }));
    });
  plain("memory", {});
  withSqlite(`${title} on sqlite`, declare);
  withPostgres(`${title} on postgres`, (postgres) =>
    declare(() => ({ name: "postgres", durable: true, settings: postgres.options(), cwd: "." })),
  );
  withRedis(`${title} on redis`, (redis) =>
    declare(() => ({ name: "redis", durable: false, settings: redis.options(), cwd: "." })),
  );
  plain("a custom storage", { checkpointer_scheme: "./map-storage.ts" }, CUSTOM);
};

export const onMongodb: OnBackends = (title, declare) =>
  withMongodb(`${title} on mongodb`, (mongodb) =>
    declare(() => ({ name: "mongodb", durable: true, settings: mongodb().options(), cwd: "." })),
  );

/** Declares tests for SQLite; without a driver they are skipped with the reason in their title. */
export function withSqlite(title: string, declare: (backend: () => Backend) => void): void {
  describeSqlite(title, () => {
    let cwd = "";
    beforeAll(async () => {
      cwd = await mkdtemp(join(tmpdir(), "graph-serve-backend-"));
    });
    afterAll(() => rm(cwd, { recursive: true, force: true }));
    const settings = {
      checkpointer_scheme: "sqlite",
      checkpointer_uri: "store.sqlite",
      checkpointer_options: {},
    };
    declare(() => ({ name: "sqlite", durable: true, settings, cwd }));
  });
}

/** Opens the storage of the backend. The caller closes it. */
export const openBackend = ({ settings, cwd }: Backend): Promise<Storage> =>
  openStorage({ ...settings, cwd, max_queued_runs: 10 });

/** Opens the storage of the backend and closes it at the end of the test. Its `close()` does nothing. */
export async function keptStorage(backend: Backend): Promise<Storage> {
  const storage = await openBackend(backend);
  onTestFinished(storage.close.bind(storage));
  return { ...storage, close: async () => undefined };
}

/** The checkpoints of the storage with new, empty rows, as after a restart of Redis. */
export async function withoutRows(storage: Storage): Promise<Storage> {
  const { threads, runs, owners, locks, items } = await openBackend(MEMORY);
  return { ...storage, threads, runs, owners, locks, items };
}

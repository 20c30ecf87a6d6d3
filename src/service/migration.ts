/** What `migrate` works with: the versions of a storage, and copies of all that one keeps. */
import { copyStorage, type StorageCopyOptions, type StorageCopyReport } from "../storage/copy/storage.js";
import { type OpenOptions, openStorage, storageSchemaState } from "../storage/open.js";
import type { SchemaState } from "../storage/contract/schema-state.js";
import type { Storage } from "../storage/contract/storage.js";
import { ConfigError } from "../support/errors.js";

export type { CopyProgress, StorageCopyReport } from "../storage/copy/storage.js";
export type { SchemaPart, SchemaState } from "../storage/contract/schema-state.js";

/** Where a storage is, as the settings say it. */
export type StoragePlace = Omit<OpenOptions, "max_queued_runs" | "readOnly">;

/**
 * What a storage stands at. Changes nothing.
 * @throws ConfigError (`config_invalid`), StorageUnavailableError (`storage_unavailable`)
 */
export const storageSchema = (place: StoragePlace): Promise<SchemaState> =>
  storageSchemaState(optionsOf(place));

/**
 * Make what a storage lacks, and bring it up to this release, as a server does when it starts.
 * @returns what the operator should know of it, such as where a copy was made
 * @throws ConfigError (`config_invalid`)
 * @throws StorageUnavailableError when it cannot be reached, or is of a later release (`storage_unavailable`)
 */
export async function migrateUp(place: StoragePlace): Promise<readonly string[]> {
  const storage = await openStorage(optionsOf(place));
  await storage.close();
  return storage.notices ?? [];
}

interface MigrationOptions extends Pick<StorageCopyOptions, "overwrite" | "signal" | "onProgress"> {
  /** Only read. */
  from: StoragePlace;
  to: StoragePlace;
}

export interface MigrationReport extends StorageCopyReport {
  from: MigrationSide;
  to: MigrationSide;
}

/** A storage that took part. */
export type MigrationSide = Pick<Storage, "scheme" | "durable" | "location"> & { keepsItems: boolean };

/**
 * Copy all that one storage keeps to another; see `copyStorage`.
 * @throws ConfigError when an option is wrong, or the two are one (`config_invalid`)
 * @throws StorageUnavailableError (`storage_unavailable`)
 */
export async function migrateStorage({ from, to, ...options }: MigrationOptions): Promise<MigrationReport> {
  const source = await openStorage({ ...optionsOf(from), readOnly: true });
  try {
    const target = await openStorage(optionsOf(to));
    try {
      if (isOne([from, source], [to, target])) throw new ConfigError("--from and --to name the same storage");
      const report = await copyStorage({ ...options, from: source, to: target });
      return { ...report, from: sideOf(source), to: sideOf(target) };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Nobody waits in line here. */
const optionsOf = (place: StoragePlace): OpenOptions => ({ ...place, max_queued_runs: 0 });

const sideOf = ({ scheme, durable, location, items }: Storage): MigrationSide => ({
  scheme,
  durable,
  location,
  keepsItems: items !== undefined,
});

type Opened = [StoragePlace, Storage];

function isOne([from, source]: Opened, [to, target]: Opened): boolean {
  if (source.scheme !== target.scheme || source.location !== target.location) return false;
  const own = ({ checkpointer_options: { schema, key_prefix }, checkpointer_uri }: StoragePlace) =>
    JSON.stringify([schema ?? "public", key_prefix, source.location === undefined && checkpointer_uri]);
  return own(from) === own(to);
}

/** Functions behind `migrate`: schema versions of a storage, and copies of its data. */
import { copyStorage, type StorageCopyOptions, type StorageCopyReport } from "../storage/copy/storage.js";
import {
  type OpenOptions,
  openSqliteSaver,
  openStorage,
  SQLITE_SAVER,
  storageSchemaState,
} from "../storage/open.js";
import type { SchemaState } from "../storage/contract/schema-state.js";
import type { Storage } from "../storage/contract/storage.js";
import { ConfigError, StorageUnavailableError } from "../support/errors.js";

export type { CopyProgress, StorageCopyReport } from "../storage/copy/storage.js";
export type { SchemaPart, SchemaState } from "../storage/contract/schema-state.js";

/** The settings that locate a storage. */
export type StoragePlace = Omit<OpenOptions, "max_queued_runs" | "readOnly"> & {
  /** The flag that names the storage; undefined for the configured one. */
  flag?: string;
};

/**
 * The schema state of a storage. Read-only.
 * @throws ConfigError (`config_invalid`), StorageUnavailableError (`storage_unavailable`)
 */
export const storageSchema = (place: StoragePlace): Promise<SchemaState> =>
  storageSchemaState(optionsOf(place));

/**
 * Creates or migrates the schema of a storage, as a server does when it starts.
 * @returns notices for the operator, such as the path of a backup
 * @throws ConfigError (`config_invalid`)
 * @throws StorageUnavailableError if the storage cannot be reached or has the schema of a later release (`storage_unavailable`)
 */
export async function migrateUp(place: StoragePlace): Promise<readonly string[]> {
  const storage = await openStorage(optionsOf(place));
  await storage.close();
  return storage.notices ?? [];
}

interface MigrationOptions extends Pick<StorageCopyOptions, "overwrite" | "signal" | "onProgress"> {
  /** Opened read-only. The scheme `sqlite-saver` needs `checkpointer_options.graph`. */
  from: StoragePlace;
  to: StoragePlace;
}

export interface MigrationReport extends StorageCopyReport {
  from: MigrationSide;
  to: MigrationSide;
  /** What the operator should know about the source. */
  notices: readonly string[];
}

/** The source or target of a migration. */
export type MigrationSide = Pick<Storage, "scheme" | "durable" | "location"> & { keepsItems: boolean };

/**
 * Copies all data of a storage to another; see `copyStorage`.
 * @throws ConfigError if an option is invalid or both are the same storage (`config_invalid`)
 * @throws StorageUnavailableError (`storage_unavailable`)
 */
export async function migrateStorage({ from, to, ...options }: MigrationOptions): Promise<MigrationReport> {
  const open = from.checkpointer_scheme === SQLITE_SAVER ? openSqliteSaver : openStorage;
  const source = await open({ ...optionsOf(from), readOnly: true }).catch(named(from.flag));
  try {
    const target = await openStorage(optionsOf(to)).catch(named(to.flag));
    try {
      if (isSameStorage([from, source], [to, target]))
        throw new ConfigError("--from and --to name the same storage");
      const report = await copyStorage({ ...options, from: source, to: target });
      return { ...report, from: sideOf(source), to: sideOf(target), notices: source.notices ?? [] };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

const optionsOf = ({ flag: _, ...place }: StoragePlace): OpenOptions => ({ ...place, max_queued_runs: 0 });

/** Hints of a storage are about the settings and `--db`; a copy has two storages, and neither has `--db`. */
const named =
  (flag: string | undefined) =>
  (error: unknown): never => {
    if (flag === undefined || !(error instanceof StorageUnavailableError)) throw error;
    const hint = error.hint
      ?.replace(/name another file with --db.*/, `correct ${flag}`)
      .replace("checkpointer_uri", flag)
      .replace("checkpointer_options", `${flag}-options`);
    throw new StorageUnavailableError(`${flag}: ${error.message}`, { hint, cause: error });
  };

const sideOf = ({ scheme, durable, location, items }: Storage): MigrationSide => ({
  scheme,
  durable,
  location,
  keepsItems: items !== undefined,
});

type Opened = [StoragePlace, Storage];

function isSameStorage([from, source]: Opened, [to, target]: Opened): boolean {
  if (source.scheme !== target.scheme || source.location !== target.location) return false;
  const own = ({ checkpointer_options: { schema, key_prefix }, checkpointer_uri }: StoragePlace) =>
    JSON.stringify([schema ?? "public", key_prefix, source.location === undefined && checkpointer_uri]);
  return own(from) === own(to);
}

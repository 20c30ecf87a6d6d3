/** `.graph-serve`: where `dev` keeps its threads and leaves word of itself. */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LoadedConfig } from "../../config/load.js";

const FOLDER = ".graph-serve";
const DATABASE = `${FOLDER}/dev.db`;
/** Where `dev --record` keeps what models and tools answered, unless it is told. */
export const TRANSCRIPTS = `${FOLDER}/transcripts`;

/** What a running `dev` says of itself. */
export interface DevMarker {
  url: string;
  pid: number;
}

/**
 * The settings of `dev` and `run`: threads are kept in a file of the project when no scheme was named, so that they
 * survive a restart; the setting's own default stays memory.
 */
export function withDevStorage(config: LoadedConfig): LoadedConfig {
  const { settings, origins } = config;
  const unnamed = origins.checkpointer_scheme.kind === "default";
  const needsFile =
    unnamed || (settings.checkpointer_scheme === "sqlite" && settings.checkpointer_uri === undefined);
  if (!needsFile) return config;
  const stored = { checkpointer_scheme: "sqlite", checkpointer_uri: DATABASE };
  return { ...config, settings: Object.freeze({ ...settings, ...stored }) };
}

/** True when the threads of these settings live in the state folder. */
export function usesStateFolder({ settings }: Pick<LoadedConfig, "settings">): boolean {
  return settings.checkpointer_scheme === "sqlite" && settings.checkpointer_uri === DATABASE;
}

/** Make the folder, which keeps itself out of git. */
export async function makeStateFolder(baseDir: string): Promise<void> {
  const folder = join(baseDir, FOLDER);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, ".gitignore"), "*\n");
}

const markerFile = (baseDir: string): string => join(baseDir, FOLDER, "dev.json");

export async function writeMarker(baseDir: string, marker: DevMarker): Promise<void> {
  await makeStateFolder(baseDir);
  await writeFile(markerFile(baseDir), `${JSON.stringify(marker)}\n`);
}

/** What the last `dev` of this folder left; it may have died without taking it away. */
export async function readMarker(baseDir: string): Promise<DevMarker | undefined> {
  try {
    return JSON.parse(await readFile(markerFile(baseDir), "utf8")) as DevMarker;
  } catch {
    return undefined;
  }
}

/** Take the marker away, unless another process has written its own since. */
export async function removeMarker(baseDir: string, pid: number): Promise<void> {
  const marker = await readMarker(baseDir);
  if (marker?.pid === pid) await rm(markerFile(baseDir), { force: true });
}

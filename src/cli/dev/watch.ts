import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { FSWatcher } from "chokidar";
import { errorMessage } from "../../support/errors/thrown.js";

interface WatchListeners {
  /** Called with the changed files after a debounce. */
  onChange: (files: string[]) => void;
  /** Called once if the system cannot watch a file, such as at its limit of watched files. */
  warn: (message: string) => void;
}

// Debounces, because an editor saves in several steps and a formatter saves several files.
const QUIET_MS = 40;

/** Watches a set of files, which may not exist yet. */
export class FileWatcher {
  readonly #listeners: WatchListeners;
  #watcher: FSWatcher | undefined;
  #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #hasFailed = false;

  constructor(listeners: WatchListeners) {
    this.#listeners = listeners;
  }

  /**
   * Replaces the watched files. A module file that was saved since it was loaded is reported too, so a change during the
   * load is not lost.
   * @param read other files, and when they were read first, in milliseconds since 1970: those saved later are reported
   */
  async watch(files: readonly string[], read?: { files: readonly string[]; at: number }): Promise<void> {
    const { watch } = await import("chokidar");
    const before = this.#watcher;
    const watched = new Set(files);
    const paths = new Set([...files, ...files.flatMap(foldersOf)].map(withSlashes));
    const watcher = watch(
      [...paths].filter((path) => existsSync(path)),
      { ignoreInitial: true, ignored: (path) => !paths.has(path) },
    );
    this.#watcher = watcher;
    watcher.on("all", (_event, file) => {
      if (watched.has(file)) this.#note([file]);
    });
    watcher.on("error", (error) => this.#fail(error));
    await new Promise<void>((resolve) => watcher.once("ready", resolve));
    await before?.close();
    const { takeChanged } = await import("../../service/find-graphs.js");
    this.#note([...takeChanged(files), ...(read?.files.filter((file) => isSavedAfter(file, read.at)) ?? [])]);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#watcher?.close();
  }

  #note(files: readonly string[]): void {
    if (files.length === 0) return;
    for (const file of files) this.#changed.add(file);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const paths = [...this.#changed];
      this.#changed = new Set();
      this.#listeners.onChange(paths);
    }, QUIET_MS);
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#listeners.warn(
      `files cannot be watched, so a saved file has no effect until the next start: ${errorMessage(error)}`,
    );
  }
}

function isSavedAfter(file: string, at: number): boolean {
  const saved = statSync(file, { throwIfNoEntry: false });
  return saved !== undefined && saved.mtimeMs > at;
}

/** The missing folders of a missing file, and the first one that exists: a file that is created is noticed there. */
function foldersOf(file: string): string[] {
  if (existsSync(file)) return [];
  const folder = dirname(file);
  return folder === file ? [] : [folder, ...foldersOf(folder)];
}

// chokidar compares paths with forward slashes on every system.
const withSlashes = (path: string): string => path.replaceAll("\\", "/");

export interface FileWatcher {
  /** Replaces the watched files. */
  watch(files: readonly string[]): void;
  close(): Promise<void>;
}

// Debounces, because an editor saves in several steps and a formatter saves several files.
const QUIET_MS = 40;

/** Calls `onChange` with the changed files after a debounce. */
export async function watchFiles(
  files: readonly string[],
  onChange: (files: string[]) => void,
): Promise<FileWatcher> {
  const { watch } = await import("chokidar");
  let watched = new Set(files);
  const watcher = watch([...watched], { ignoreInitial: true });
  let changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  const flush = () => {
    const paths = [...changed];
    changed = new Set();
    onChange(paths);
  };
  watcher.on("all", (_event, file) => {
    changed.add(file);
    clearTimeout(timer);
    timer = setTimeout(flush, QUIET_MS);
  });
  await new Promise<void>((resolve) => watcher.once("ready", resolve));

  return {
    watch: (paths) => {
      const next = new Set(paths);
      watcher.add([...next].filter((file) => !watched.has(file)));
      watcher.unwatch([...watched].filter((file) => !next.has(file)));
      watched = next;
    },
    close: async () => {
      clearTimeout(timer);
      await watcher.close();
    },
  };
}

/** `test --watch`: another pass whenever a case file, a graph, or the configuration changes. */
import { errorText } from "../report-error.js";
import type { Session } from "../session.js";
import { SIGNAL_EXITS } from "../stop.js";
import { watchFiles, type FileWatcher } from "../dev/watch.js";
import { findCaseFiles } from "../../testing/case-files.js";
import { createReporter } from "./reporters/create.js";
import { runPass, type SuiteInput } from "./suite.js";

type WatchInput = Pick<SuiteInput, "flags" | "options" | "signal">;

/** Runs until it is stopped; a fault of a file is shown, and waits for its repair. */
export async function watchCases(
  session: Session,
  paths: readonly string[],
  input: WatchInput,
): Promise<number> {
  const { signal } = input;
  let wake: () => void = () => undefined;
  let changed = false;
  const onChange = () => {
    changed = true;
    wake();
  };
  let watcher: FileWatcher | undefined;
  try {
    while (!signal.aborted) {
      changed = false;
      const files = await pass(session, paths, input);
      if (watcher) watcher.watch(files);
      else watcher = await watchFiles(files, onChange);
      session.print.note("watching for changes");
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (changed || signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  } finally {
    await watcher?.close();
  }
  return SIGNAL_EXITS[String(signal.reason)] ?? 1;
}

/** One pass; gives the files to watch. */
async function pass({ ...session }: Session, paths: readonly string[], input: WatchInput): Promise<string[]> {
  const { io, print } = session;
  const reporter = createReporter(input.options.reporter, {
    write: (text) => print.part(text),
    colors: print.colors,
    cwd: io.cwd,
  });
  try {
    const { report, files } = await runPass(session, {
      ...input,
      paths,
      onResult: (result) => reporter.caseEnded?.(result),
    });
    reporter.ended(report);
    return files;
  } catch (error) {
    io.stderr.write(
      errorText(error, { colors: print.noteColors, cwd: io.cwd, verbose: print.flags.verbose }),
    );
    return findCaseFiles(io.cwd, paths).catch(() => []);
  }
}

import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import picocolors from "picocolors";
import { GraphServeError } from "../../errors.js";
import { publishedSchema } from "../../testing/case-model.js";
import type { Session } from "../session.js";
import { abortOnStop, SIGNAL_EXITS } from "../stop.js";
import { testOptions, type TestFlags, type TestOptions } from "../test/flags.js";
import { createReporter } from "../test/reporters/create.js";
import type { Reporter, SuiteReport } from "../test/reporters/reporter.js";
import { runPass } from "../test/suite.js";

export type { TestFlags } from "../test/flags.js";

/** `test`: smoke tests of graphs, by case files or without any. */
export async function test(session: Session, paths: readonly string[], flags: TestFlags): Promise<number> {
  if (flags.printSchema) {
    session.print.data(JSON.stringify(publishedSchema(), null, 2));
    return 0;
  }
  const options = testOptions(session, flags);
  if (flags.fromRun !== undefined) {
    const { writeCaseOfRun } = await import("../test/from-run/from-run.js");
    await writeCaseOfRun(session, paths, { ...flags, fromRun: flags.fromRun });
    return 0;
  }
  const stop = abortOnStop(session.io);
  try {
    if (flags.watch) {
      const { watchCases } = await import("../test/watch.js");
      return await watchCases(session, paths, { flags, options, signal: stop.signal });
    }
    const output = await openOutput(session, flags, options);
    const { report } = await runPass(session, {
      paths,
      flags,
      options,
      signal: stop.signal,
      onResult: (result) => output.reporters.forEach((reporter) => reporter.caseEnded?.(result)),
    });
    for (const reporter of output.reporters) reporter.ended(report);
    await output.flush();
    return exitCodeOf(report);
  } finally {
    stop.dispose();
  }
}

/** With `--out`, the file gets the report, and people the list. */
async function openOutput({ io, print }: Session, { out }: TestFlags, { reporter }: TestOptions) {
  const { cwd } = io;
  const toStdout = { write: (text: string) => print.part(text), colors: print.colors, cwd };
  if (out === undefined)
    return { reporters: [createReporter(reporter, toStdout)], flush: () => Promise.resolve() };
  const file = resolve(cwd, out);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, "");
  let text = "";
  const toFile = {
    write: (part: string) => void (text += part),
    colors: picocolors.createColors(false),
    cwd,
  };
  const reporters: Reporter[] = [createReporter(reporter, toFile)];
  if (reporter !== "list") reporters.push(createReporter("list", toStdout));
  return { reporters, flush: () => appendFile(file, text) };
}

/** The signal's; else that of the first graph that could not be opened; else whether something failed. */
export function exitCodeOf({ cases, faults, stoppedBy }: SuiteReport): number {
  if (stoppedBy !== undefined) return SIGNAL_EXITS[stoppedBy] ?? 1;
  const fault = cases.find((one) => one.fault instanceof GraphServeError)?.fault;
  if (fault) return fault.exitCode;
  return faults.length > 0 || cases.some(({ status }) => status === "failed") ? 1 : 0;
}

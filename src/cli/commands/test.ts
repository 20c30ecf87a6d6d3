import type { Command } from "@commander-js/extra-typings";
import picocolors from "picocolors";
import { GraphServeError } from "../../support/errors.js";
import { publishedSchema } from "../../testing/cases/case-model.js";
import { examples, type Runner } from "../session/command.js";
import { clientOptions } from "../session/options.js";
import { createReport } from "../session/report-file.js";
import type { Session } from "../session/session.js";
import { abortOnStop, SIGNAL_EXITS } from "../session/stop.js";
import { type TestFlags, testOptions, type TestOptions } from "../suite/flags.js";
import { createReporter } from "../suite/reporters/create.js";
import type { Reporter, Reporting, SuiteReport } from "../suite/reporters/reporter.js";
import { runPass } from "../suite/suite.js";

const EXAMPLES = [
  "graph-serve test",
  "graph-serve test ./graph.ts",
  "graph-serve test cases/ -t greets --bail",
  "graph-serve test --ci --reporter junit --out junit.xml",
  "graph-serve test --server --coverage --min-node-coverage 80",
  "graph-serve test --record",
  "graph-serve test --fault kill-after=reply",
  "graph-serve test --from-run 0198c0de-0000-7000-8000-000000000000",
  "graph-serve test --url http://127.0.0.1:2024",
];

export function testCommand(command: Command, run: Runner): void {
  command
    .argument(
      "[cases...]",
      "case files such as chat.graph.yaml, or folders (default: all in this folder and below), or graph files such as ./graph.ts",
    )
    .option("-t, --test-name <name>", "run only cases whose name matches this text or regular expression")
    .option("-w, --watch", "rerun when a case, a graph or the configuration changes")
    .option("-u, --update", "update snapshots and the schema lock")
    .option(
      "--ci",
      "fail on missing snapshots, locks and recordings: writes nothing and calls no model (default with env CI)",
    )
    .option("--reporter <name>", "list, dot, json, junit, github or tap (default list)")
    .option("--out <file>", "write the report to this file, and the list to stdout")
    .option("--bail", "stop at the first failing case")
    .option("--retries <n>", "maximum number of retries of a failing case")
    .option("--concurrency <n>", "number of cases to run in parallel (default 1)")
    .option("--shard <i/n>", "run only this part of the cases, such as 1/3")
    .option("--timeout <seconds>", "time limit of a case, in seconds", "30")
    .option("--server", "run the cases over HTTP and server-sent events")
    .option("--url <url>", "run the cases on this server")
    .addOption(clientOptions.apiKey())
    .option("--coverage", "report nodes and conditional edges that no case reached")
    .option("--min-node-coverage <percent>", "fail if a smaller share of nodes is reached")
    .option(
      "--schema-lock [file]",
      "fail if a schema differs from this file (default graph-schemas.lock.json)",
    )
    .option(
      "--record",
      "call models and tools, and record their responses to the file named by `mock` (default fixtures/<case file>.jsonl)",
    )
    .option("--replay", "fail on every model call that is not recorded, even without `mock`")
    .option("--live", "call models and tools instead of using recordings, also with --ci")
    .option(
      "--fault <fault>",
      "inject a failure into each case and resume it: kill-after=NODE, checkpoint-write or disconnect",
    )
    .option(
      "--from-run <id>",
      "generate a case file from this stored run; the argument is its graph, --out the file",
    )
    .option("--fixed", "with --from-run of a failed run: expect success instead of the failure")
    .option(
      "--transcripts <dir>",
      "folder of the recordings of dev --record (default .graph-serve/transcripts)",
    )
    .option("--pass-with-no-tests", "succeed if no cases are selected")
    .option("--print-schema", "print the JSON schema of case files")
    .addHelpText("after", examples(...EXAMPLES))
    .action((cases, options) => run(command, async (session) => test(session, cases, options)));
}

export type { TestFlags } from "../suite/flags.js";

/** `test`: runs case files, or smoke tests if there are none. */
async function test(session: Session, paths: readonly string[], flags: TestFlags): Promise<number> {
  if (flags.printSchema) {
    session.print.data(JSON.stringify(publishedSchema(), null, 2));
    return 0;
  }
  const options = testOptions(session, flags);
  if (flags.fromRun !== undefined) {
    const { writeCaseOfRun } = await import("../from-run/from-run.js");
    await writeCaseOfRun(session, paths, { ...flags, fromRun: flags.fromRun });
    return 0;
  }
  const stop = abortOnStop(session.io);
  try {
    if (flags.watch) {
      const { watchCases } = await import("../suite/suite.js");
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

/** With `--out`, the report goes to the file, and the list to stdout. */
async function openOutput({ io, print }: Session, { out }: TestFlags, { reporter }: TestOptions) {
  const { cwd } = io;
  const toStdout: Reporting = {
    write: (text) => print.part(text),
    colors: print.colors,
    cwd,
    asCalled: (text) => print.asCalled(text),
  };
  const file = await createReport({ io, print }, out);
  if (!file) return { reporters: [createReporter(reporter, toStdout)], flush: () => Promise.resolve() };
  let text = "";
  const toFile: Reporting = {
    ...toStdout,
    write: (part) => void (text += part),
    colors: picocolors.createColors(false),
  };
  const reporters: Reporter[] = [createReporter(reporter, toFile)];
  if (reporter !== "list") reporters.push(createReporter("list", toStdout));
  return { reporters, flush: () => file.write(text) };
}

/** Exit code of the signal; else of the first graph that failed to open; else 1 if a case failed. */
function exitCodeOf({ cases, faults, stoppedBy }: SuiteReport): number {
  if (stoppedBy !== undefined) return SIGNAL_EXITS[stoppedBy] ?? 1;
  const fault = cases.find((one) => one.fault instanceof GraphServeError)?.fault;
  if (fault) return fault.exitCode;
  return faults.length > 0 || cases.some(({ status }) => status === "failed") ? 1 : 0;
}

/** `shadow` and `runs rerun`: stored runs on the graphs of now, in memory. */
import type { Command } from "@commander-js/extra-typings";
import { examples, type Runner } from "../session/command.js";
import { Option } from "../session/commander.js";
import { TRANSCRIPTS } from "../session/open.js";
import { addClientOptions, listOption } from "../session/options.js";

export function shadowCommand(command: Command, run: Runner): void {
  addShadowOptions(command)
    .option("--sample <n>", "maximum number of runs; with the same runs, the same ones each time")
    .option("--ci", "exit with code 1 if a run differs")
    .option("--studio", "show the results in the Studio of this project")
    .option("--accept <file>", "write the differences to this file, for --baseline")
    .option("--baseline <file>", "do not count differences that this file lists")
    .addHelpText(
      "after",
      examples(
        "graph-serve shadow --since 24h",
        "graph-serve shadow --since 24h --against ./graph.ts --sample 200 --ci",
        "graph-serve shadow --since 24h --against ./graph.ts --accept shadow.json",
        "graph-serve shadow --db postgres://host/name --junit shadow.xml",
        'graph-serve shadow --since 24h --against ./graph.ts --models live --budget "0.50 USD"',
        "graph-serve shadow --file thread.json --against ./graph.ts --html shadow.html",
      ),
    )
    .action((flags) =>
      run(command, async (session) => (await import("./execute.js")).shadowRuns(session, flags)),
    );
}

/** `runs rerun`. */
export function rerunCommand(command: Command, run: Runner): void {
  addShadowOptions(command)
    .addOption(
      // Runs with another status have not ended, or cannot be repeated.
      new Option("--status <status>", "only runs with this status")
        .choices(["success", "error", "interrupted"] as const)
        .default("error" as const),
    )
    .addHelpText(
      "after",
      examples(
        "graph-serve runs rerun --since 24h",
        "graph-serve runs rerun --status error --since 24h --against ./graph.ts",
      ),
    )
    .action((flags) => run(command, async (session) => (await import("./execute.js")).rerun(session, flags)));
}

const addShadowOptions = (command: Command) =>
  addClientOptions(
    command
      .option("--since <time>", "only runs since this time; a time, or a duration such as 24h")
      .option("--against <file>", "run this graph file instead of the configured one")
      .option("--graph <id>", "only runs of this graph; with --against, the graph that the file replaces")
      .addOption(
        new Option(
          "--models <mode>",
          "calls of models and tools: recorded refuses calls without a recorded response, hybrid executes them, live executes all",
        )
          .choices(["recorded", "live", "hybrid"] as const)
          .default("recorded" as const),
      )
      .option(
        "--recordings <folder>",
        `folder of recorded runs (default: what the setting recording names, else ${TRANSCRIPTS})`,
      )
      .option(
        "--budget <amount>",
        'with --models live: what all model calls may use, such as "0.50 USD" or "200k tokens"',
      )
      .option("--timeout <seconds>", "time limit of each run", "60")
      .addOption(listOption("--file <file>", "runs of this thread, written by export, instead of a storage"))
      .option("--junit <file>", "write a JUnit report to this file")
      .option("--html <file>", "write a page with all results to this file"),
  );

import { examples, type Parent, type Runner } from "../command.js";
import { sourceOptions } from "../source/source-options.js";

export function addRunsCommand(program: Parent, run: Runner): void {
  const load = () => import("../actions/runs.js");
  const runs = program
    .command("runs")
    .description("List and read the runs of a thread, with or without a server.")
    .addHelpText("after", examples("graph-serve runs list 0198c0de-0000-7000-8000-000000000000"));
  runs
    .command("list")
    .description("List the runs of a thread, newest first.")
    .argument("<thread>", "id of the thread, or its beginning")
    .option(
      "--status <status>",
      "only runs that are pending, running, success, error, timeout or interrupted",
    )
    .option("--limit <n>", "most runs to list", "10")
    .option("--offset <n>", "runs to skip")
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addHelpText(
      "after",
      examples(
        "graph-serve runs list 0198c0de-0000-7000-8000-000000000000",
        "graph-serve runs list 0198c0de-0000-7000-8000-000000000000 --status error --json",
      ),
    )
    .action((thread, options, command) =>
      run(command, async (session) => (await load()).listRuns(session, thread, options)),
    );
  runs
    .command("get")
    .description("Show a run.")
    .argument("<thread>", "id of the thread, or its beginning")
    .argument("<run>", "id of the run")
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addHelpText(
      "after",
      examples(
        "graph-serve runs get 0198c0de-0000-7000-8000-000000000000 0198c0de-0000-7000-8000-000000000001 --json",
      ),
    )
    .action((thread, runId, options, command) =>
      run(command, async (session) => (await load()).getRun(session, thread, runId, options)),
    );
}

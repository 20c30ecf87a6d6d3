import { examples, type Parent, type Runner } from "../command.js";
import { sourceOptions } from "../source/source-options.js";
import { storageOptions } from "./listen-options.js";

export function addRunCommand(program: Parent, run: Runner): void {
  program
    .command("run")
    .description("Run a graph once, in this process or on a server, and show what it does.")
    .argument(
      "[graph]",
      "file such as ./graph.ts:graph, key of the configuration, or assistant of the server (default: the graph of --thread, else the first)",
    )
    .option("-i, --input <json>", "input: JSON, @file, or - for stdin")
    .option("--message <text>", "input: one message of the user")
    .option("--thread <id>", "thread to run on, or new", "new")
    .option("--stream <modes>", "stream modes, separated by commas")
    .option("--run-config <json>", "config of the run")
    .option("--context <json>", "context of the run")
    .option("--resume <json>", "answer to the open interrupt")
    .option("--goto <node>", "node to go to")
    .option("--checkpoint <id>", "checkpoint to start from")
    .option("--interactive", "go on with one message, or one answer, a line")
    .option("--url <url>", "run on this server instead of in this process")
    .addOption(sourceOptions.apiKey())
    .addOption(storageOptions.schemeOrFile())
    .addOption(storageOptions.uri())
    .addHelpText(
      "after",
      examples(
        'graph-serve run --message "hello"',
        "graph-serve run ./graph.ts:graph -i @input.json --json",
        "graph-serve run --thread 0198c0de-0000-7000-8000-000000000000 --resume true",
        'graph-serve run --url http://127.0.0.1:2024 --message "hello" --jsonl',
      ),
    )
    .action((graph, options, command) =>
      run(command, async (session) => (await import("../actions/run.js")).run(session, graph, options)),
    );
}

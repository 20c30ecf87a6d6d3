import { examples, type Parent, type Runner } from "../command.js";
import { sourceOptions } from "../source/source-options.js";

export function addTestCommand(program: Parent, run: Runner): void {
  program
    .command("test")
    .alias("smoke")
    .description("Test graphs by case files; without any, load, draw and run every graph once.")
    .argument("[cases...]", "case files such as chat.graph.yaml, or folders (default all below here)")
    .option("-t, --test-name <name>", "run the cases whose name fits this text or regular expression")
    .option("-w, --watch", "run again when a case, a graph or the configuration changes")
    .option("-u, --update", "accept what differs from snapshots and locked schemas")
    .option("--ci", "write no snapshot and no lock: a missing one fails (default with env CI)")
    .option("--reporter <name>", "list, dot, json, junit, github or tap (default list)")
    .option("--out <file>", "write the report into this file, and the list to stdout")
    .option("--bail", "stop at the first case that fails")
    .option("--retries <n>", "further attempts of a case that fails")
    .option("--concurrency <n>", "cases at once (default 1)")
    .option("--shard <i/n>", "run this part of the cases, such as 1/3")
    .option("--timeout <seconds>", "most that a case may take", "30")
    .option("--server", "run the cases over HTTP and server-sent events")
    .option("--url <url>", "run the cases on this server")
    .addOption(sourceOptions.apiKey())
    .option("--coverage", "show nodes and conditional edges that no case reached")
    .option("--min-node-coverage <percent>", "fail when fewer of the nodes are reached")
    .option(
      "--schema-lock [file]",
      "fail when a schema differs from this file (default graph-schemas.lock.json)",
    )
    .option(
      "--record",
      "call the models and tools, and record their answers into the files that `mock` names",
    )
    .option("--replay", "refuse every model call that is not recorded, also without `mock`")
    .option("--live", "call the models and tools, whatever is recorded")
    .option(
      "--fault <fault>",
      "break each case at kill-after=NODE, checkpoint-write or disconnect, take it up again",
    )
    .option(
      "--from-run <id>",
      "write a case file from this stored run; an argument names its graph, --out the file",
    )
    .option(
      "--transcripts <dir>",
      "where dev --record kept the answers of models and tools (default .graph-serve/transcripts)",
    )
    .option("--pass-with-no-tests", "let an empty selection pass")
    .option("--print-schema", "print the JSON schema of case files")
    .addHelpText(
      "after",
      examples(
        "graph-serve test",
        "graph-serve test cases/ -t greets --bail",
        "graph-serve test --ci --reporter junit --out junit.xml",
        "graph-serve test --server --coverage --min-node-coverage 80",
        "graph-serve test --record",
        "graph-serve test --fault kill-after=reply",
        "graph-serve test --from-run 0198c0de-0000-7000-8000-000000000000",
        "graph-serve test --url http://127.0.0.1:2024",
      ),
    )
    .action((cases, options, command) =>
      run(command, async (session) => (await import("../actions/test.js")).test(session, cases, options)),
    );
}

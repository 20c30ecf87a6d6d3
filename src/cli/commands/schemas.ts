import { Option } from "@commander-js/extra-typings";
import { examples, type Parent, type Runner } from "../command.js";
import { sourceOptions } from "../source/source-options.js";

export function addSchemasCommand(program: Parent, run: Runner): void {
  program
    .command("schemas")
    .description("Print the schemas of a graph as JSON schema or TypeScript, or check them against files.")
    .argument(
      "[graph]",
      "file such as ./graph.ts:graph, key of the configuration, or assistant of the server",
    )
    .option("--kind <kinds>", "input, output, state, config, context; separated by commas (default all)")
    .option("--out <dir>", "write a file a kind into this folder, or read them from it with --check")
    .addOption(
      new Option("--format <format>", "form of the schemas").choices(["json", "ts"] as const).default("json"),
    )
    .option("--check", "compare with the files in --out: exit 1 when a change breaks clients")
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .option("--static", "read the types from the source, with LangGraph's parser where it is installed")
    .addHelpText(
      "after",
      examples(
        "graph-serve schemas",
        "graph-serve schemas ./graph.ts:graph --kind input",
        "graph-serve schemas --format ts --out schemas",
        "graph-serve schemas --out schemas",
        "graph-serve schemas --out schemas --check",
        "graph-serve schemas --url http://127.0.0.1:2024",
      ),
    )
    .action((graph, options, command) =>
      run(command, async (session) => {
        return (await import("../actions/schemas.js")).schemas(session, graph, options);
      }),
    );
}

import { Option } from "@commander-js/extra-typings";
import { examples, type Parent, type Runner } from "../command.js";
import { sourceOptions } from "../source/source-options.js";

const FORMATS = ["ascii", "mermaid", "dot", "json"] as const;

export function addGraphCommand(program: Parent, run: Runner): void {
  program
    .command("graph")
    .description("Draw a graph in the terminal, or as Mermaid, Graphviz or JSON.")
    .argument(
      "[graph]",
      "file such as ./graph.ts:graph, key of the configuration, or assistant of the server",
    )
    .addOption(new Option("--format <format>", "form of the drawing (default ascii)").choices(FORMATS))
    .option("--xray", "draw the nodes of subgraphs in their place")
    .option("--thread <id>", "mark what this thread has done and does next")
    .option("--check <file>", "compare with a file: exit 1 when it differs")
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addHelpText(
      "after",
      examples(
        "graph-serve graph",
        "graph-serve graph ./graph.ts:graph --xray",
        "graph-serve graph --format mermaid > graph.mmd",
        "graph-serve graph --check graph.mmd",
      ),
    )
    .action((graph, options, command) =>
      run(command, async (session) => (await import("../actions/graph.js")).graph(session, graph, options)),
    );
}

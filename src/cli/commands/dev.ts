import { examples, type Parent, type Runner } from "../command.js";
import { listenOptions, storageOptions } from "./listen-options.js";

export function addDevCommand(program: Parent, run: Runner): void {
  program
    .command("dev")
    .description("Serve graphs on this machine, and load them anew when a file is saved.")
    .argument(
      "[graph...]",
      "files such as ./graph.ts:graph, or keys of the configuration; the first is the default",
    )
    .addOption(listenOptions.port())
    .addOption(listenOptions.host())
    .option("--no-reload", "do not watch files")
    .option(
      "--record [dir]",
      "keep what models and tools answer, a file a run (default .graph-serve/transcripts)",
    )
    .option("--open", "open the API documentation in a browser")
    .addOption(storageOptions.schemeOrFile())
    .addOption(storageOptions.uri())
    .addOption(listenOptions.corsOrigin())
    .addOption(listenOptions.allowHost())
    .addHelpText(
      "after",
      examples(
        "graph-serve dev",
        "graph-serve dev ./graph.ts:graph -p 3000",
        "graph-serve dev --checkpointer-scheme memory",
        "graph-serve dev --record",
      ),
    )
    .action((graphs, options, command) =>
      run(command, async (session) => (await import("../actions/dev.js")).dev(session, graphs, options)),
    );
}

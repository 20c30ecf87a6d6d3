import { settingOption } from "../flags.js";
import { examples, type Parent, type Runner } from "../command.js";
import { listenOptions, storageOptions } from "./listen-options.js";

export function addStartCommand(program: Parent, run: Runner): void {
  program
    .command("start")
    .description("Serve graphs in production: JSON logs, no watching, an orderly end.")
    .argument(
      "[graph...]",
      "files such as ./graph.ts:graph, or keys of the configuration; the first is the default",
    )
    .addOption(listenOptions.port())
    .addOption(listenOptions.host())
    .addOption(storageOptions.scheme())
    .addOption(storageOptions.uri())
    .addOption(listenOptions.corsOrigin())
    .addOption(listenOptions.allowHost())
    .addOption(settingOption("--shutdown-grace <seconds>", "shutdown_grace_seconds"))
    .addOption(settingOption("--run-timeout <seconds>", "run_timeout_seconds"))
    .addOption(settingOption("--body-limit <bytes>", "body_limit"))
    .addHelpText(
      "after",
      examples(
        "graph-serve start --host 0.0.0.0 -p 8080 --allow-host agents.example.com",
        "graph-serve start --checkpointer-scheme sqlite --checkpointer-uri ./data/threads.db",
        "graph-serve start --run-timeout 600 --body-limit 5mb",
      ),
    )
    .action((graphs, options, command) =>
      run(command, async (session) => (await import("../actions/start.js")).start(session, graphs, options)),
    );
}

import { examples, type Parent, type Runner } from "../command.js";

export function addConfigCommand(program: Parent, run: Runner): void {
  const config = program
    .command("config")
    .description("Show the settings and where they come from.")
    .addHelpText("after", examples("graph-serve config print --origin", "graph-serve config path"));
  const load = () => import("../actions/config.js");
  config
    .command("print")
    .description("Print the settings that hold, secrets masked.")
    .option("--origin", "also print where each one comes from")
    .option("--show-secrets", "print secrets as they are")
    .addHelpText("after", examples("graph-serve config print --origin", "graph-serve config print --json"))
    .action((options, command) =>
      run(command, async (session) => (await load()).printConfig(session, options)),
    );
  config
    .command("path")
    .description("Print the path of the configuration file.")
    .addHelpText("after", examples("graph-serve config path"))
    .action((_options, command) => run(command, async (session) => (await load()).printPath(session)));
  config
    .command("validate")
    .description("Check the configuration without loading a graph.")
    .addHelpText("after", examples("graph-serve config validate -c graph-server.config.json"))
    .action((_options, command) => run(command, async (session) => (await load()).validateConfig(session)));
  config
    .command("schema")
    .description("Print the JSON schema of the configuration.")
    .addHelpText("after", examples("graph-serve config schema > graph-server.schema.json"))
    .action((_options, command) => run(command, async (session) => (await load()).printSchema(session)));
}

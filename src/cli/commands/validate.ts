import { examples, type Parent, type Runner } from "../command.js";

export function addValidateCommand(program: Parent, run: Runner): void {
  program
    .command("validate")
    .description("Load the configuration and every graph, derive the schemas, serve nothing.")
    .argument("[graph...]", "files such as ./graph.ts:graph, or keys of the configuration")
    .addHelpText("after", examples("graph-serve validate", "graph-serve validate ./graph.ts --json"))
    .action((graphs, _options, command) =>
      run(command, async (session) => (await import("../actions/validate.js")).validate(session, graphs)),
    );
}

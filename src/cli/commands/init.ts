import { Option } from "@commander-js/extra-typings";
import { examples, type Parent, type Runner } from "../command.js";
import { PACKAGE_MANAGERS, TEMPLATES } from "../init/choices.js";

export function addInitCommand(program: Parent, run: Runner): void {
  program
    .command("init")
    .description("Make a project with a graph that runs without an API key.")
    .argument("[dir]", "folder of the project", ".")
    .addOption(new Option("-t, --template <name>", "what to start from (default chat)").choices(TEMPLATES))
    .addOption(new Option("--pm <name>", "package manager of the commands shown").choices(PACKAGE_MANAGERS))
    .option("--config-only", "make only the configuration file")
    .option("--force", "write over files that are there")
    .addHelpText(
      "after",
      examples("graph-serve init my-agent", "graph-serve init my-agent -t agent-tools --pm pnpm"),
    )
    .action((dir, options, command) =>
      run(command, async (session) => (await import("../actions/init.js")).init(session, dir, options)),
    );
}

import { examples, type Parent, type Runner } from "../command.js";
import { storageOptions } from "./listen-options.js";

export function addRecoverCommand(program: Parent, run: Runner): void {
  program
    .command("recover")
    .description("List the runs that a dead server left unfinished, or settle them.")
    .option("--apply", "mark them as failed, and set their threads right")
    .addOption(storageOptions.scheme())
    .addOption(storageOptions.uri())
    .addHelpText("after", examples("graph-serve recover", "graph-serve recover --apply"))
    .action((options, command) =>
      run(command, async (session) => (await import("../actions/recover.js")).recover(session, options)),
    );
}

import { examples, type Parent, type Runner } from "../command.js";
import { storageOptions } from "./listen-options.js";

export function addDoctorCommand(program: Parent, run: Runner): void {
  program
    .command("doctor")
    .description("Look for faults of the setup, each with its fix: exit 1 when there is one.")
    .addOption(storageOptions.scheme())
    .addOption(storageOptions.uri())
    .addHelpText("after", examples("graph-serve doctor", "graph-serve doctor --json"))
    .action((options, command) =>
      run(command, async (session) => (await import("../actions/doctor.js")).doctor(session, options)),
    );
}

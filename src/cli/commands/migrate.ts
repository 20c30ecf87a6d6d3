import { Option } from "@commander-js/extra-typings";
import { examples, type Parent, type Runner } from "../command.js";
import { storageOptions } from "./listen-options.js";

const load = () => import("../actions/migrate.js");
const side = (name: "from" | "to", what: string) => ({
  uri: () => new Option(`--${name} <uri>`, `connection string of ${what} (default the configured storage)`),
  scheme: () =>
    new Option(`--${name}-scheme <scheme>`, `its scheme, where --${name} does not tell, such as a module`),
  options: () => new Option(`--${name}-options <json>`, `its checkpointer_options, such as '{"schema":"x"}'`),
});
const from = side("from", "the storage to read");
const to = side("to", "the storage to fill");

export function addMigrateCommand(program: Parent, run: Runner): void {
  const migrate = program
    .command("migrate")
    .description("Bring a storage up to this release, or copy one to another.")
    .addHelpText("after", examples("graph-serve migrate status"));
  migrate
    .command("status")
    .description("Show the versions that a storage stands at; exit code 1 when up has something to do.")
    .addOption(storageOptions.scheme())
    .addOption(storageOptions.uri())
    .addHelpText("after", examples("graph-serve migrate status", "graph-serve migrate status --json"))
    .action((flags, command) =>
      run(command, async (session) => (await load()).migrateStatus(session, flags)),
    );
  migrate
    .command("up")
    .description("Make what a storage lacks and bring it up to this release, as start does by itself.")
    .addOption(storageOptions.scheme())
    .addOption(storageOptions.uri())
    .addHelpText("after", examples("graph-serve migrate up"))
    .action((flags, command) => run(command, async (session) => (await load()).migrateUp(session, flags)));
  migrate
    .command("copy")
    .description("Copy all threads, runs, checkpoints and long-term memory to another storage.")
    .addOption(from.uri())
    .addOption(from.scheme())
    .addOption(from.options())
    .addOption(to.uri())
    .addOption(to.scheme())
    .addOption(to.options())
    .option("--overwrite", "delete threads of the target that are others under the same id")
    .addHelpText(
      "after",
      examples(
        "graph-serve migrate copy --from ./.graph-serve/dev.db --to ./threads.db",
        "graph-serve migrate copy --to postgresql://user:password@host:5432/database",
      ),
    )
    .action((flags, command) => run(command, async (session) => (await load()).migrateCopy(session, flags)));
}

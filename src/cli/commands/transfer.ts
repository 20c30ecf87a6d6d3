import { examples, type Parent, type Runner } from "../command.js";
import { listOption } from "../key-values.js";
import { sourceOptions } from "../source/source-options.js";
import { storageOptions } from "./listen-options.js";

const load = () => import("../actions/transfer.js");
const options = {
  redact: () =>
    listOption("--redact <path>", "replace what stands there by [redacted], such as messages[*].content"),
};

export function addTransferCommands(program: Parent, run: Runner): void {
  program
    .command("export")
    .description("Write a thread with all its checkpoints as one JSON file.")
    .argument("<thread>", "id of the thread, or its beginning")
    .option("--out <file>", "write it to a file instead of stdout")
    .addOption(options.redact())
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addOption(sourceOptions.raw())
    .addHelpText(
      "after",
      examples(
        "graph-serve export 0198c0de --out thread.json",
        "graph-serve export 0198c0de --redact messages[*].content > thread.json",
      ),
    )
    .action((thread, flags, command) =>
      run(command, async (session) => (await load()).exportThread(session, thread, flags)),
    );
  program
    .command("import")
    .description("Store an exported thread: its history can be read, and its latest state run on.")
    .argument("<file>", "file that export or pull made")
    .option("--as <id>", "id to store it under, or new (default its own)")
    .addOption(storageOptions.scheme())
    .addOption(storageOptions.uri())
    .addHelpText(
      "after",
      examples("graph-serve import thread.json", "graph-serve import thread.json --as new"),
    )
    .action((file, flags, command) =>
      run(command, async (session) => (await load()).importThread(session, file, flags)),
    );
  program
    .command("pull")
    .description("Fetch a thread from a LangGraph-compatible server as one JSON file.")
    .argument("<url>", "address of the server")
    .argument("<thread>", "id of the thread")
    .addOption(sourceOptions.apiKey())
    .option("--out <file>", "write it to a file instead of stdout")
    .addOption(options.redact())
    .addHelpText(
      "after",
      examples(
        "graph-serve pull http://127.0.0.1:2024 0198c0de-0000-7000-8000-000000000000 --out thread.json",
      ),
    )
    .action((url, thread, flags, command) =>
      run(command, async (session) => (await load()).exportThread(session, thread, { ...flags, url })),
    );
}

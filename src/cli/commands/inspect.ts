import { examples, type Parent, type Runner } from "../command.js";
import { sourceOptions } from "../source/source-options.js";

const THREAD = "id of the thread, or its beginning";
const EXAMPLE = "0198c0de-0000-7000-8000-000000000000";
const load = () => import("../actions/inspect.js");

export function addInspectCommand(program: Parent, run: Runner): void {
  const inspect = program
    .command("inspect")
    .description("Look into threads, runs and checkpoints, with or without a server.")
    .addHelpText("after", examples(`graph-serve inspect thread ${EXAMPLE}`));
  addThread(inspect, run);
  addRun(inspect, run);
  addCheckpoint(inspect, run);
  addState(inspect, run);
}

function addThread(inspect: Parent, run: Runner): void {
  inspect
    .command("thread")
    .description("Show what a thread holds: status, runs, tokens, errors, open questions, latest values.")
    .argument("<thread>", THREAD)
    .option("--values", "show the values alone")
    .option("--full", "fold and cut nothing")
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addOption(sourceOptions.raw())
    .addHelpText(
      "after",
      examples(
        `graph-serve inspect thread ${EXAMPLE}`,
        `graph-serve inspect thread ${EXAMPLE} --values --full`,
        `graph-serve inspect thread ${EXAMPLE} --url http://127.0.0.1:2024 --json`,
      ),
    )
    .action((thread, options, command) =>
      run(command, async (session) => (await load()).inspectThread(session, thread, options)),
    );
}

function addRun(inspect: Parent, run: Runner): void {
  inspect
    .command("run")
    .description("Show a run superstep by superstep: nodes, durations, what changed.")
    .argument("<run>", "id of the run; its thread is found")
    .option("--thread <thread>", "thread of the run, which saves looking for it")
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addOption(sourceOptions.raw())
    .addHelpText(
      "after",
      examples(
        "graph-serve inspect run 0198c0de-0000-7000-8000-000000000001",
        `graph-serve inspect run 0198c0de-0000-7000-8000-000000000001 --thread ${EXAMPLE} --json`,
      ),
    )
    .action((runId, options, command) =>
      run(command, async (session) => (await load()).inspectRun(session, runId, options)),
    );
}

function addCheckpoint(inspect: Parent, run: Runner): void {
  inspect
    .command("checkpoint")
    .description("Show a checkpoint: where it stands, what comes next, its values.")
    .argument("<thread>", THREAD)
    .argument("[checkpoint]", "its id or the beginning of it, a step, or -1 for the latest")
    .option("--ns <namespace>", "namespace of a subgraph")
    .option("--writes", "also show what the tasks after it wrote")
    .option("--full", "fold and cut nothing")
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addOption(sourceOptions.raw())
    .addHelpText(
      "after",
      examples(
        `graph-serve inspect checkpoint ${EXAMPLE}`,
        `graph-serve inspect checkpoint ${EXAMPLE} 0 --writes`,
        `graph-serve inspect checkpoint ${EXAMPLE} 1f0c5a3e-7b2d-6abc-8000-c0ffee000000 --json`,
      ),
    )
    .action((thread, checkpoint, options, command) =>
      run(command, async (session) => (await load()).inspectCheckpoint(session, thread, checkpoint, options)),
    );
}

function addState(inspect: Parent, run: Runner): void {
  inspect
    .command("state")
    .description("Print the values of a thread, or one of them, ready for a pipe.")
    .argument("<thread>", THREAD)
    .option("--at <checkpoint>", "a checkpoint's id or the beginning of it, a step, or -1 for the latest")
    .option("--path <path>", "one value, such as messages[-1].content")
    .option("--ns <namespace>", "namespace of a subgraph")
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addOption(sourceOptions.raw())
    .addHelpText(
      "after",
      examples(
        `graph-serve inspect state ${EXAMPLE} --path "messages[-1].content"`,
        `graph-serve inspect state ${EXAMPLE} --at 0`,
        `graph-serve inspect state ${EXAMPLE} --at -1 --json`,
      ),
    )
    .action((thread, options, command) =>
      run(command, async (session) => (await load()).inspectState(session, thread, options)),
    );
}

import type { Command } from "@commander-js/extra-typings";
import { InvalidRequestError } from "../../support/errors.js";
import { escapeControl } from "../../view/text.js";
import { addFormerFlag, examples, type Runner } from "../session/command.js";
import { fork, type Forked, graphToRun, runOn, valuesFlag, writeState } from "../fork/branch.js";
import { addClientOptions, checkpointOption, type ClientFlags, THREAD_AT } from "../session/options.js";
import { nextCommand, type RunReport } from "../run/outcome.js";
import { inputFlagFor } from "../session/graph-keys.js";
import type { Session } from "../session/session.js";
import { findCheckpoint, namedCheckpoint } from "../session/find.js";
import { withClient } from "../session/open-client.js";
import { threadArgument } from "../threads/pick.js";

export function forkCommand(command: Command, run: Runner): void {
  const fork = addClientOptions(
    command
      .argument("[thread]", THREAD_AT)
      .addOption(checkpointOption("fork from this checkpoint instead of the latest"))
      .option("--values <json>", "values to write first, using the graph's reducers")
      .option("--as-node <node>", "node that the values are attributed to")
      .option("--branch", "fork as a branch of the same thread instead of a copy")
      .option("--run", "then run the fork"),
  )
    .addHelpText(
      "after",
      examples(
        "graph-serve fork 0198c0de",
        "graph-serve fork 0198c0de@2 --values '{\"count\": 3}' --run",
        "graph-serve fork 0198c0de --checkpoint -2 --branch --run",
      ),
    )
    .action((thread, options) =>
      run(command, async (session) =>
        forkThread(session, await threadArgument(session, options, thread), options),
      ),
    );
  addFormerFlag(fork, "--at <checkpoint>", "--checkpoint");
}

export function stateCommand(state: Command, run: Runner): void {
  state.addHelpText("after", examples("graph-serve state set 0198c0de --values '{\"count\": 3}'"));
  const set = addClientOptions(
    state
      .command("set")
      .description("Write values to the state of a thread, using the graph's reducers.")
      .argument("[thread]", THREAD_AT)
      .option("--values <json>", "values to write")
      .option("--as-node <node>", "node that the values are attributed to")
      .addOption(checkpointOption("write after this checkpoint instead of the latest")),
  )
    .addHelpText(
      "after",
      examples(
        "graph-serve state set 0198c0de --values '{\"count\": 3}'",
        "graph-serve state set 0198c0de --values '{\"count\": 3}' --as-node reply --checkpoint 1",
      ),
    )
    .action((thread, options, command) =>
      run(command, async (session) =>
        setState(session, await threadArgument(session, options, thread), options),
      ),
    );
  addFormerFlag(set, "--at <checkpoint>", "--checkpoint");
}

interface ForkFlags extends ClientFlags {
  checkpoint?: string;
  values?: string;
  asNode?: string;
  branch?: boolean;
  run?: boolean;
}

const FAILED_EXIT = 1;

/**
 * `fork`: forks a thread, into a copy or as a branch. With `alone`, for the deprecated `threads copy`, the JSON output is
 * the new thread only.
 */
export async function forkThread(
  session: Session,
  thread: string,
  flags: ForkFlags,
  { alone = false } = {},
): Promise<number> {
  const values = valuesFlag(flags.values);
  const { branch = false, asNode } = flags;
  const needsGraph = values !== undefined || asNode !== undefined;
  const { graph, input, toRun, ...forked } = await withClient(
    session,
    flags,
    { access: "write", graphs: needsGraph ? "required" : "optional" },
    async (client) => {
      const { threadId, state } = await findCheckpoint(client, thread, flags);
      const toRun = flags.run
        ? await graphToRun(session, await client.threads.get(threadId), flags)
        : undefined;
      const isCopy = !needsGraph && !branch && !flags.run;
      const made =
        state.checkpoint?.checkpoint_id == null && isCopy
          ? { thread: await client.threads.copy(threadId), checkpointId: undefined }
          : await fork(client, state, { branch, values, asNode });
      return {
        ...made,
        graph: client.graphOf(made.thread),
        input: await inputFlagFor(client, made.thread),
        toRun,
      };
    },
  );
  const outcome = flags.run
    ? await runOn(session, {
        threadId: forked.thread.thread_id,
        flags,
        graph: toRun,
        checkpointId: forked.checkpointId,
      })
    : undefined;
  if (alone && session.print.isJson) session.print.json(forked.thread);
  else show(session, forked, { outcome, graph, input, flags });
  return outcome?.error ? FAILED_EXIT : 0;
}

function show(
  { print, flags: globals }: Session,
  { thread, checkpointId }: Pick<Forked, "thread" | "checkpointId">,
  { outcome, graph, input, flags }: { outcome?: RunReport; graph?: string; input: string; flags: ForkFlags },
): void {
  const { thread_id } = thread;
  if (print.isJson) {
    print.json({ thread_id, checkpoint_id: checkpointId ?? null, thread, run: outcome ?? null });
    return;
  }
  print.data(checkpointId === undefined || outcome ? thread_id : `${thread_id} ${checkpointId}`);
  if (outcome) {
    const error = outcome.error ? `: ${escapeControl(outcome.error.message)}` : "";
    print.note(`  ${outcome.status}${error}`);
  }
  const waiting = outcome?.interrupts ?? Object.values(thread.interrupts ?? {}).flat();
  const next = nextCommand({ thread_id, interrupts: waiting }, graph, { ...globals, ...flags }, input);
  const from = checkpointId !== undefined && !outcome ? ` --checkpoint ${checkpointId}` : "";
  print.note(`  ${print.noteColors.dim("next")}  ${next}${from}`);
}

interface StateSetFlags extends ClientFlags {
  values?: string;
  asNode?: string;
  checkpoint?: string;
}

/** `state set`: writes values to a thread's state, using the reducers of its graph. */
async function setState(session: Session, thread: string, flags: StateSetFlags): Promise<number> {
  const values = valuesFlag(flags.values);
  if (values === undefined) {
    throw new InvalidRequestError("no values to write", undefined, {
      hint: `add --values '{"count": 3}'`,
    });
  }
  const written = await withClient(
    session,
    flags,
    { access: "write", graphs: "required" },
    async (client) => {
      const { checkpoint } = namedCheckpoint(thread, flags.checkpoint);
      const { threadId, state } = await findCheckpoint(client, thread, { checkpoint });
      return writeState(client, threadId, {
        values,
        asNode: flags.asNode,
        checkpoint: checkpoint === undefined ? undefined : (state.checkpoint ?? undefined),
      });
    },
  );
  if (session.print.isJson) session.print.json(written);
  else session.print.data(written.checkpoint.checkpoint_id ?? "");
  return 0;
}

import { fork, valuesFlag, type Forked } from "../fork/branch.js";
import { runOn } from "../fork/run-on.js";
import { nextCommand } from "../run/next-command.js";
import type { RunOutcome } from "../run/outcome.js";
import type { Session } from "../session.js";
import { findState, findThreadId } from "../source/find.js";
import type { SourceFlags } from "../source/source.js";
import { withSource } from "../source/with-source.js";
import { escapeControl } from "../escape.js";

export interface ForkFlags extends SourceFlags {
  at?: string;
  values?: string;
  asNode?: string;
  branch?: boolean;
  run?: boolean;
}

const FAILED_EXIT = 1;

/** `fork`: another future for a thread, on a copy or as a branch of it. */
export async function forkThread(session: Session, thread: string, flags: ForkFlags): Promise<number> {
  const values = valuesFlag(flags.values);
  const { branch = false, asNode } = flags;
  const needsGraph = values !== undefined || asNode !== undefined;
  const { graph, ...forked } = await withSource(
    session,
    flags,
    { access: "write", graphs: needsGraph ? "required" : "optional" },
    async (source) => {
      const from = await findState(source, await findThreadId(source, thread), { at: flags.at });
      const made = await fork(source, from, { branch, values, asNode });
      return { ...made, graph: source.graphOf(made.thread) };
    },
  );
  const outcome = flags.run
    ? await runOn(session, { thread: forked.thread, flags, checkpointId: forked.checkpointId })
    : undefined;
  show(session, forked, { outcome, graph, flags });
  return outcome?.error ? FAILED_EXIT : 0;
}

function show(
  { print, flags: globals }: Session,
  { thread, checkpointId }: Forked,
  { outcome, graph, flags }: { outcome?: RunOutcome; graph?: string; flags: ForkFlags },
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
  const next = nextCommand({ thread_id, interrupts: waiting }, graph, { ...globals, ...flags });
  const from = checkpointId !== undefined && !outcome ? ` --checkpoint ${checkpointId}` : "";
  print.note(`  ${print.noteColors.dim("next")}  ${next}${from}`);
}

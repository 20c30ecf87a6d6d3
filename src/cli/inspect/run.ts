/** What `inspect run` finds: a run superstep by superstep. */
import type { Run } from "../../models/run.js";
import type { ThreadState } from "../../models/state.js";
import { entryOf, ownNodes, RunStarts, type HistoryEntry } from "../history/entries.js";
import { asked } from "../history/lines.js";
import type { Printer } from "../print.js";
import { printRun } from "../runs/card.js";
import type { Source } from "../source/source.js";
import { Trail } from "../source/trail.js";
import { walkStates } from "../source/walk.js";
import { printColumnsAsRead, type Column } from "../view/columns.js";
import { printFields } from "../view/fields.js";
import { shownId } from "../view/text.js";
import { errorLine } from "./task-error.js";

export interface Superstep {
  step: number | null;
  source: string;
  /** Nodes that ran; empty for the input. */
  nodes: string[];
  next: string[];
  /** From the checkpoint before, or from the start of the run. */
  ms: number | null;
  changed: string[];
  checkpoint_id: string;
  created_at: string | null;
  /** Errors that ended the run after this checkpoint, as JSON text. */
  errors: string[];
  interrupts: number;
}

/** The supersteps of a run, oldest first; the ids of its checkpoints are held, and a page of them. */
export async function* superstepsOf(source: Source, threadId: string, run: Run): AsyncGenerator<Superstep> {
  const states = walkStates(source, threadId, { metadata: { run_id: run.run_id } });
  const trail = await Trail.of(source, threadId, states);
  const runs = new RunStarts(source, threadId);
  let before: ThreadState | undefined;
  for await (const state of trail.states()) {
    yield superstep(await entryOf(source, threadId, state, before, runs));
    before = state;
  }
}

function superstep(entry: HistoryEntry): Superstep {
  const { id, step, source, nodes, next, ms, changed, created_at, errors, interrupts } = entry;
  return {
    step: step ?? null,
    source,
    nodes,
    next,
    ms: ms ?? null,
    changed,
    checkpoint_id: id,
    created_at,
    errors,
    interrupts,
  };
}

/** The card of the run at once, then a row a superstep as they are read. */
export async function printInspectedRun(
  print: Printer,
  run: Run,
  supersteps: AsyncIterable<Superstep>,
): Promise<void> {
  printRun(print, run);
  let last: Superstep | undefined;
  async function* rows(): AsyncGenerator<Superstep> {
    for await (const superstep of supersteps) {
      if (!last) print.data("");
      last = superstep;
      yield superstep;
    }
  }
  await printColumnsAsRead(print, superstepColumns(print), rows());
  if (!last) {
    print.note("the run left no checkpoint");
    return;
  }
  printFields(print, [
    ...last.errors.map((error) => ["failed", errorLine(error)] as const),
    ["ended", last.interrupts > 0 ? `${asked(last.interrupts)} in ${last.next.join(", ")}` : ""],
  ]);
}

function nodesText(nodes: readonly string[], source: string): string {
  const own = ownNodes(nodes);
  if (own.length > 0) return own.join(", ");
  return nodes.length > 0 ? "(start)" : `(${source})`;
}

function superstepColumns(print: Printer): Column<Superstep>[] {
  return [
    { title: "STEP", cell: ({ step }) => String(step ?? "") },
    {
      title: "NODES",
      cell: ({ nodes, source }) => nodesText(nodes, source),
      least: 8,
    },
    { title: "MS", cell: ({ ms }) => String(ms ?? ""), spare: 1 },
    { title: "CHANGED", cell: ({ changed }) => changed.join(", "), spare: 2, least: 8 },
    { title: "CHECKPOINT", cell: ({ checkpoint_id }) => shownId(print, checkpoint_id), spare: 3 },
  ];
}

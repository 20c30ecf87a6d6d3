/** What `inspect run` finds: a run superstep by superstep. */
import type { Run } from "../../models/run.js";
import { historySteps, ownNodes } from "../history/entries.js";
import { asked } from "../history/lines.js";
import type { Printer } from "../print.js";
import { printRun } from "../runs/card.js";
import type { Source } from "../source/source.js";
import { walkStates } from "../source/walk.js";
import { printColumns, type Column } from "../view/columns.js";
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

export interface InspectedRun {
  run: Run;
  /** Oldest first. */
  supersteps: Superstep[];
}

export async function inspectedRun(source: Source, threadId: string, run: Run): Promise<InspectedRun> {
  const supersteps: Superstep[] = [];
  const states = walkStates(source, threadId, { metadata: { run_id: run.run_id } });
  for await (const { entry } of historySteps(source, threadId, states)) {
    const { id, step, source: kind, nodes, next, ms, changed, created_at, errors, interrupts } = entry;
    supersteps.push({
      step: step ?? null,
      source: kind,
      nodes,
      next,
      ms: ms ?? null,
      changed,
      checkpoint_id: id,
      created_at,
      errors,
      interrupts,
    });
  }
  return { run, supersteps: supersteps.reverse() };
}

export async function printInspectedRun(print: Printer, { run, supersteps }: InspectedRun): Promise<void> {
  printRun(print, run);
  if (supersteps.length === 0) {
    print.note("the run left no checkpoint");
    return;
  }
  print.data("");
  await printColumns(print, superstepColumns(print), supersteps);
  const last = supersteps.at(-1);
  printFields(print, [
    ...(last?.errors ?? []).map((error) => ["failed", errorLine(error)] as const),
    ["ended", last && last.interrupts > 0 ? `${asked(last.interrupts)} in ${last.next.join(", ")}` : ""],
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

/**
 * Finds the first step from which on a condition on the state holds, by binary search over the numbers of steps: it reads
 * few states, not all. Loaded when it is first used.
 */
import type { SelectedState } from "../../src/models/state.js";
import { askStates } from "./shown.js";
import { justAfter, type Step } from "./step-list.js";
import { type Condition, holds } from "./condition.js";

/** Additional steps that are read on each side of the result, to find out whether it holds at all later steps. */
const SAMPLES = 6;
const PAGE = 1000;

export interface Found {
  /** Undefined if it holds at none of the steps that were read. */
  first: { id: string; number: number } | undefined;
  /** Number of a step before the first one at which it holds, and of one after it at which it does not. */
  earlier: number | undefined;
  later: number | undefined;
  /** States that were read. */
  reads: number;
  steps: number;
}

interface Probe {
  id: string;
  holds: boolean;
}

/** @param head the last step to search; earlier ones of other branches are skipped */
export async function bisect(
  threadId: string,
  ns: string,
  head: Pick<Step, "id" | "number">,
  condition: Condition,
): Promise<Found> {
  const line = new Line(threadId, ns, head, condition);
  const [first, last] = [FIRST, head.number ?? FIRST];
  const steps = last - first + 1;
  const samples = between(first, last);
  let high: number | undefined;
  for (const number of [last, ...samples.toReversed(), first]) {
    if (!(await line.at(number))) continue;
    high = number;
    break;
  }
  if (high === undefined)
    return { first: undefined, earlier: undefined, later: undefined, reads: line.reads, steps };
  // It does not hold at `low`, or `low` is before all steps; it holds at `high`.
  let low = first - 1;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await line.at(middle)) high = middle;
    else low = middle;
  }
  const found = high;
  const earlier = await line.findWhere(between(first, found - 1), true);
  const later = await line.findWhere([...between(found + 1, last), last], false);
  const id = await line.idOf(found);
  return { first: { id, number: found }, earlier, later, reads: line.reads, steps };
}

/** LangGraph's number of the first step of a thread. */
const FIRST = -1;

/** Evenly spaced numbers between two, ascending. */
function between(from: number, to: number): number[] {
  const count = Math.min(SAMPLES, Math.max(0, to - from + 1));
  const all = Array.from({ length: count }, (_, index) =>
    Math.round(from + ((to - from) * (index + 0.5)) / Math.max(1, count)),
  );
  return [...new Set(all)];
}

/** The steps from the first one to the head, by number. */
class Line {
  reads = 0;
  readonly #path: string;
  readonly #ns: string;
  readonly #head: Pick<Step, "id" | "number">;
  readonly #condition: Condition;
  readonly #known = new Map<number, Probe>();
  /** Ids by number along the parents of the head; only read if branches make a number ambiguous. */
  #parents: Map<number, string> | undefined;

  constructor(threadId: string, ns: string, head: Pick<Step, "id" | "number">, condition: Condition) {
    this.#path = `/threads/${encodeURIComponent(threadId)}/history`;
    this.#ns = ns;
    this.#head = head;
    this.#condition = condition;
  }

  async at(number: number): Promise<boolean> {
    return (await this.#probe(number)).holds;
  }

  async idOf(number: number): Promise<string> {
    return (await this.#probe(number)).id;
  }

  /** The first of these numbers at which the condition has this value. */
  async findWhere(numbers: readonly number[], value: boolean): Promise<number | undefined> {
    for (const number of numbers) if ((await this.at(number)) === value) return number;
    return undefined;
  }

  async #probe(number: number): Promise<Probe> {
    const known = this.#known.get(number);
    if (known) return known;
    const state = await this.#read(number);
    const probe = {
      id: state?.checkpoint?.checkpoint_id ?? "",
      holds: state !== undefined && holds(this.#condition, state.values),
    };
    this.#known.set(number, probe);
    return probe;
  }

  async #read(number: number): Promise<SelectedState | undefined> {
    this.reads += 1;
    const before = justAfter(this.#head.id);
    const select = ["checkpoint", "values"];
    const id = this.#parents?.get(number);
    const found = await this.#history(
      id === undefined
        ? { limit: 2, before, metadata: { step: number }, select }
        : { limit: 1, before: justAfter(id), select },
    );
    if (found.length < 2 || this.#parents) return found[0];
    this.#parents = await this.#readParents();
    return this.#read(number);
  }

  async #readParents(): Promise<Map<number, string>> {
    const parents = new Map<number, string>();
    const select = ["checkpoint", "parent_checkpoint", "metadata"];
    let [wanted, before]: [string | undefined, string] = [this.#head.id, justAfter(this.#head.id)];
    for (;;) {
      const page = await this.#history({ limit: PAGE, before, select });
      for (const { checkpoint, parent_checkpoint, metadata } of page) {
        if (checkpoint?.checkpoint_id !== wanted || wanted === undefined) continue;
        if (typeof metadata?.step === "number") parents.set(metadata.step, wanted);
        wanted = parent_checkpoint?.checkpoint_id ?? undefined;
      }
      const last = page.at(-1)?.checkpoint?.checkpoint_id;
      if (page.length < PAGE || last == null || wanted === undefined) return parents;
      before = last;
    }
  }

  async #history(body: object): Promise<SelectedState[]> {
    const around = this.#ns === "" ? {} : { checkpoint: { checkpoint_ns: this.#ns } };
    return (await askStates<SelectedState[]>("POST", this.#path, { ...body, ...around })).body;
  }
}

/** Two branches, of one thread or of two, compared step by step. */
import { batch, computed } from "@preact/signals";
import type { Run, RunTasks } from "../../src/models/run.js";
import { NO_TOKENS, type TokenCounts } from "../../src/models/token-counts.js";
import type { SelectedState, ThreadState } from "../../src/models/state.js";
import { ApiError, ask, shared } from "../api.js";
import { aligned, type Aligned, type Named } from "../components/aligned.js";
import { added, tokensIn } from "../components/prices.js";
import { place } from "../router.js";
import type { Action } from "./copy-as.js";
import { load, loading } from "./loading.js";
import { userNodes } from "../../src/view/diagram.js";
import { fileNameOf, openedFile } from "./opened-files.js";
import { askStates } from "./shown.js";
import { type Step, STEP_FIELDS, stepOf } from "./step-list.js";
import { strings } from "../strings.js";

/** Source of a side: the server, or an opened file. */
interface Origin {
  threadId: string;
  file: string | undefined;
  ask: <T>(method: "GET" | "POST", path: string, body?: unknown) => Promise<T>;
}

export interface ComparedStep extends Step, Named {
  origin: Origin;
}

export interface Side {
  origin: Origin;
  /** Oldest step first. */
  chain: ComparedStep[];
  /** True if earlier steps were not read because the thread is too long. */
  isCut: boolean;
  /** True if the run of the last step continued after it. */
  goesOn: boolean;
}

export interface Comparison {
  left: Side;
  right: Side;
  steps: Aligned<ComparedStep>;
  totals: { left: Total; right: Total };
}

/** Totals of a branch after the common steps. */
interface Total {
  ms: number;
  /** Undefined if unknown, as on a saved page. */
  tokens: TokenCounts | undefined;
}

const PAGE = 500;
/** Maximum number of steps read per thread, newest first. */
export const MOST_STEPS = 5000;

/**
 * Both sides of the address: `ID@3`, `ID@-1` for the newest step, `ID@1f0c` for the start of a checkpoint id.
 */
export const named = computed(() => place.value.path.slice(1, 3));

export const comparison = loading<Comparison>();

export function compare(): void {
  const [left, right] = named.value;
  batch(() => {
    comparison.value.value = undefined;
    comparison.error.value = undefined;
  });
  if (left === undefined || right === undefined) return;
  const read = async (): Promise<Comparison> => {
    const sides = fromWhereBothAre(await Promise.all([readSide(left), readSide(right)]));
    const steps = aligned(sides[0].chain, sides[1].chain);
    const [first, second] = await Promise.all(sides.map((side) => totalOf(side, steps.common.length)));
    const none = { ms: 0, tokens: undefined };
    return { left: sides[0], right: sides[1], steps, totals: { left: first ?? none, right: second ?? none } };
  };
  void load(comparison, read, () => named.peek()[0] !== left || named.peek()[1] !== right);
}

/** @throws ApiError `file_not_open` if the file is not open in this tab */
function originOf(ref: string): Origin {
  const file = fileNameOf(ref);
  if (file === undefined)
    return {
      threadId: ref,
      file,
      ask: async <T>(method: "GET" | "POST", path: string, body?: unknown) =>
        (method === "GET" ? await ask<T>(method, path) : await askStates<T>(method, path, body)).body,
    };
  const held = openedFile(file);
  if (!held) throw new ApiError(404, "file_not_open", strings.compare.noFile(file));
  return {
    threadId: held.threadId,
    file,
    ask: <T>(_method: "GET" | "POST", path: string, body?: unknown) =>
      Promise.resolve(held.answer(path, body) as T),
  };
}

const pathOf = ({ threadId }: Origin): string => `/threads/${encodeURIComponent(threadId)}`;

/** Thread id or file name, and step. Splits at the last `@`, because a file name may contain one. */
function partsOf(name: string): [ref: string, step: string] {
  const at = name.lastIndexOf("@");
  return at < 0 ? [name, "-1"] : [name.slice(0, at), name.slice(at + 1) || "-1"];
}

async function readSide(name: string): Promise<Side> {
  const [ref, reference] = partsOf(name);
  const origin = originOf(ref);
  const steps: Step[] = [];
  let isWhole = false;
  while (!isWhole && steps.length < MOST_STEPS) {
    const before = steps.at(-1)?.id;
    const body = { limit: PAGE, select: STEP_FIELDS, ...(before !== undefined && { before }) };
    const page = await origin.ask<SelectedState[]>("POST", `${pathOf(origin)}/history`, body);
    steps.push(...page.map(stepOf));
    isWhole = page.length < PAGE;
  }
  const tip = tipOf(steps, reference);
  if (!tip) {
    const most = isWhole ? undefined : MOST_STEPS;
    throw new ApiError(404, "checkpoint_not_found", strings.compare.noStep(ref, reference, most));
  }
  const chain = chainTo(tip, steps, origin);
  const newest = steps.find(({ runId }) => runId === tip.runId);
  return { origin, chain, isCut: !isWhole && chain[0]?.parent !== undefined, goesOn: newest !== tip };
}

/** A copied thread starts in the middle: drop earlier steps of the other side. */
function fromWhereBothAre([left, right]: [Side, Side]): [Side, Side] {
  const since = (side: Side, { chain: [first] }: Side): Side => ({
    ...side,
    chain: side.chain.slice(
      Math.max(
        0,
        side.chain.findIndex(({ id }) => id === first?.id),
      ),
    ),
  });
  return [since(left, right), since(right, left)];
}

/** The newest step with this number, or with an id that starts with the reference. */
function tipOf(steps: readonly Step[], reference: string): Step | undefined {
  if (reference === "-1") return steps[0];
  if (/^\d{1,7}$/.test(reference)) return steps.find(({ number }) => number === Number(reference));
  return steps.find(({ id }) => id.startsWith(reference));
}

function chainTo(tip: Step, steps: readonly Step[], origin: Origin): ComparedStep[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const chain: ComparedStep[] = [];
  for (let step: Step | undefined = tip; step;) {
    const parent: Step | undefined = step.parent === undefined ? undefined : byId.get(step.parent);
    chain.push({ ...step, origin, title: titleOf(step, parent) });
    step = parent;
  }
  return chain.reverse();
}

function titleOf({ source }: Step, parent: Step | undefined): string {
  if (source === "input") return strings.thread.input;
  if (source === "update") return strings.thread.update;
  if (source === "fork") return strings.thread.fork;
  const nodes = [...new Set(userNodes(parent?.next ?? []))];
  return nodes.length === 0 ? strings.thread.start : nodes.join(" + ");
}

type ListedRun = Pick<Run, "run_id" | "usage" | "created_at">;

async function totalOf({ origin, chain, goesOn }: Side, common: number): Promise<Total> {
  const [parted, own] = [chain[common - 1], chain.slice(common)];
  const select = ["run_id", "usage", "created_at"].map((field) => `select=${field}`).join("&");
  const runs = await origin.ask<ListedRun[]>("GET", `${pathOf(origin)}/runs?limit=1000&${select}`);
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  const ms = own.reduce((sum, step, index) => {
    if (step.source !== "loop") return sum;
    const before = own[index - 1] ?? parted;
    const begun = before?.runId === step.runId ? before?.createdAt : byId.get(step.runId ?? "")?.created_at;
    return begun == null ? sum : sum + Date.parse(step.createdAt ?? "") - Date.parse(begun);
  }, 0);
  const end = goesOn ? own.at(-1) : undefined;
  return { ms: Number.isNaN(ms) ? 0 : ms, tokens: await tokensOf(origin, own, { parted, end }, byId) };
}

/** Steps at which the branch starts and ends in the middle of a run. */
interface Ends {
  parted: ComparedStep | undefined;
  end: ComparedStep | undefined;
}

/** Undefined if the usage of a run, or the times of its model calls, are unknown. */
async function tokensOf(
  origin: Origin,
  own: readonly ComparedStep[],
  { parted, end }: Ends,
  runs: ReadonlyMap<string, ListedRun>,
): Promise<TokenCounts | undefined> {
  let sum = NO_TOKENS;
  for (const id of new Set(own.flatMap(({ runId }) => runId ?? []))) {
    const run = runs.get(id);
    // Usage derived from messages covers the whole thread.
    if (!run?.usage || run.usage.source === "messages") return undefined;
    const since = id === parted?.runId ? Date.parse(parted.createdAt ?? "") : -Infinity;
    const until = id === end?.runId ? Date.parse(end.createdAt ?? "") : Infinity;
    const isWhole = since === -Infinity && until === Infinity;
    const tokens = isWhole ? run.usage : await tokensBetween(origin, run, since, until);
    if (!tokens) return undefined;
    sum = added(sum, tokens);
  }
  return sum;
}

/** Undefined unless the model calls account for all tokens of the run. */
async function tokensBetween(
  origin: Origin,
  { run_id, usage }: ListedRun,
  since: number,
  until: number,
): Promise<TokenCounts | undefined> {
  if (origin.file !== undefined || Number.isNaN(since) || Number.isNaN(until)) return undefined;
  const path = `${pathOf(origin)}/runs/${encodeURIComponent(run_id)}/tasks`;
  const { tasks } = await origin.ask<RunTasks>("GET", path);
  if (tokensIn(tasks).total_tokens !== usage?.total_tokens) return undefined;
  return tokensIn(
    tasks.filter(({ started_at }) => {
      const begun = Date.parse(started_at);
      return begun >= since && begun < until;
    }),
  );
}

/** The `diff` command for the last steps of both sides; undefined if a side is a file opened in this tab. */
export function diffAction({ left, right }: Comparison): Action | undefined {
  const tips = [left, right].map(({ origin, chain }) => {
    const id = chain.at(-1)?.id;
    return origin.file === undefined && id !== undefined ? `${origin.threadId}@${id}` : undefined;
  });
  const known = tips.filter((tip) => tip !== undefined);
  return shared || known.length < tips.length ? undefined : { cli: ["diff", ...known] };
}

export function stateOf({ origin, id }: ComparedStep): Promise<ThreadState> {
  const body = { checkpoint: { checkpoint_id: id, checkpoint_ns: "" } };
  return origin.ask<ThreadState>("POST", `${pathOf(origin)}/state/checkpoint`, body);
}

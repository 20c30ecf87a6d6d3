import type { Command } from "@commander-js/extra-typings";
import type { ThreadState, ThreadStateSearchRequest } from "../../models/state.js";
import { InvalidRequestError } from "../../support/errors.js";
import { canonicalUuid } from "../../support/ids.js";
import { Lanes } from "../../view/lanes.js";
import { examples, type Runner } from "../session/command.js";
import {
  entryLines,
  entryOf,
  type HistoryEntry,
  historySteps,
  RunLabels,
  type HistoryLine,
} from "../history/entries.js";
import { InnerLines, type InnerStep, innerSteps, withSubgraphs } from "../history/subgraphs.js";
import { findNamespace, type SubgraphRef, within } from "../session/namespace.js";
import { addClientOptions, optionalNumber, clientOptions, THREAD } from "../session/options.js";
import type { Session } from "../session/session.js";
import { findRun, findState, findThreadId } from "../session/find.js";
import { warnHidden, withClient } from "../session/open-client.js";
import type { Client } from "../../client/client.js";
import type { ClientFlags } from "../session/options.js";
import { CheckpointPath, walkOldestFirst, walkStates } from "../../client/walk.js";
import { threadArgument } from "../threads/pick.js";
import { printJsonList } from "../terminal/json-list.js";
import type { Printer } from "../terminal/print.js";

const EXAMPLE = "0198c0de-0000-7000-8000-000000000000";

export function historyCommand(command: Command, run: Runner): void {
  addClientOptions(
    command
      .argument("[thread]", THREAD)
      .option("--limit <n>", "maximum number of checkpoints (default all)")
      .option("--before <checkpoint>", "only checkpoints before this one")
      .option("--run <run>", "only checkpoints of this run")
      .option("--node <node>", "only checkpoints created by this node")
      .addOption(clientOptions.ns())
      .option("--reverse", "oldest first")
      .option("--graph", "draw branches (default unless --oneline, --reverse or --node is set)")
      .option("--oneline", "print one line per checkpoint"),
  )
    .addOption(clientOptions.raw())
    .addHelpText(
      "after",
      examples(
        `graph-serve history ${EXAMPLE}`,
        `graph-serve history ${EXAMPLE} --oneline --graph --limit 20`,
        `graph-serve history ${EXAMPLE} --run 0198c0de-0000-7000-8000-000000000001 --reverse`,
        `graph-serve history ${EXAMPLE} --url http://127.0.0.1:2024 --jsonl`,
      ),
    )
    .action((thread, options) =>
      run(command, async (session) =>
        history(session, await threadArgument(session, options, thread), options),
      ),
    );
}

interface HistoryFlags extends ClientFlags {
  limit?: string;
  before?: string;
  run?: string;
  node?: string;
  ns?: string;
  reverse?: boolean;
  graph?: boolean;
  oneline?: boolean;
}

/** `history`: prints the checkpoints of a thread, newest first, with one page in memory at a time. */
async function history(session: Session, thread: string, flags: HistoryFlags): Promise<number> {
  refuseContradictions(flags);
  const limit = optionalNumber("--limit", flags.limit, 1) ?? Infinity;
  await withClient(session, flags, {}, async (client) => {
    const threadId = await findThreadId(client, thread);
    const request = await requestOf(client, threadId, flags);
    warnHidden(session.print, client, [await client.threads.get(threadId)]);
    const found = new Found(client, threadId, { request, limit, node: flags.node });
    if (session.print.isJson) await printStates(session.print, found, flags.reverse ?? false);
    else await printEntries(session.print, found, flags);
  });
  return 0;
}

function refuseContradictions({ graph, reverse, node }: HistoryFlags): void {
  if (!graph || (!reverse && node === undefined)) return;
  throw new InvalidRequestError(
    `--graph and ${reverse ? "--reverse" : "--node"} cannot be combined`,
    undefined,
    {
      hint: "branches can only be drawn newest first and with all checkpoints",
    },
  );
}

async function requestOf(
  client: Client,
  threadId: string,
  { before, run, ns }: HistoryFlags,
): Promise<ThreadStateSearchRequest> {
  const namespace = ns === undefined ? "" : await findNamespace(client, threadId, ns);
  const runId = run === undefined ? undefined : await runIdOf(client, threadId, run);
  const last =
    before === undefined ? undefined : await findState(client, threadId, { at: before, ns: namespace });
  return {
    ...within(namespace),
    ...(runId !== undefined && { metadata: { run_id: runId } }),
    ...(last?.checkpoint?.checkpoint_id && { before: last.checkpoint.checkpoint_id }),
  };
}

/** A full id is not looked up: the row of a run can be deleted while its checkpoints are kept. */
const runIdOf = async (client: Client, threadId: string, text: string): Promise<string> =>
  canonicalUuid(text) ?? (await findRun(client, text, threadId)).run.run_id;

interface Wanted {
  request: ThreadStateSearchRequest;
  limit: number;
  node: string | undefined;
}

/** The selected checkpoints, as states and as entries. */
class Found {
  readonly client: Client;
  readonly threadId: string;
  readonly #wanted: Wanted;
  /** The last checkpoint shown, if there are more after it. */
  next: string | null = null;

  constructor(client: Client, threadId: string, wanted: Wanted) {
    this.client = client;
    this.threadId = threadId;
    this.#wanted = wanted;
  }

  /** Newest first; requests further pages only while the caller reads. */
  async *read(): AsyncGenerator<ShownStep> {
    const { request, limit, node } = this.#wanted;
    // One extra item shows whether there are more.
    const reads = node === undefined && limit !== Infinity ? { ...request, limit: limit + 1 } : request;
    let count = 0;
    let last: string | null = null;
    for await (const step of stepsNewestFirst(this.client, this.threadId, reads)) {
      if (node !== undefined && !step.entry.nodes.includes(node)) continue;
      if (count === limit) {
        this.next = last;
        return;
      }
      count += 1;
      last = step.entry.id;
      yield step;
    }
  }

  /** The same states, oldest first. */
  async *oldestFirst(): AsyncGenerator<ThreadState> {
    if (this.#isAll) yield* walkOldestFirst(this.client, this.threadId);
    else yield* (await CheckpointPath.of(this.client, this.threadId, onlyStates(this))).states();
  }

  /** The same entries, oldest first. */
  readReversed(): AsyncGenerator<ShownStep> {
    return withSubgraphs(stepsOldestFirst(this.client, this.threadId, this.oldestFirst()), "oldest first");
  }

  /** The steps of the subgraphs of a step, in the order of the list. */
  inner({ subgraphs }: ShownStep, reverse: boolean): AsyncGenerator<InnerStep<HistoryLine>> {
    const { client, threadId } = this;
    return innerSteps<HistoryLine>(subgraphs, (namespace) =>
      reverse
        ? withSubgraphs(
            stepsOldestFirst(client, threadId, walkOldestFirst(client, threadId, namespace)),
            "oldest first",
          )
        : stepsNewestFirst(client, threadId, within(namespace)),
    );
  }

  get #isAll(): boolean {
    const { request, limit, node } = this.#wanted;
    return limit === Infinity && node === undefined && Object.keys(request).length === 0;
  }
}

type ShownStep = HistoryLine & { subgraphs: SubgraphRef[] };

const stepsNewestFirst = (client: Client, threadId: string, request: ThreadStateSearchRequest) =>
  withSubgraphs(historySteps(client, threadId, walkStates(client, threadId, request)), "newest first");

async function* stepsOldestFirst(
  client: Client,
  threadId: string,
  states: AsyncIterable<ThreadState>,
): AsyncGenerator<HistoryLine> {
  const runs = new RunLabels(client, threadId);
  let before: ThreadState | undefined;
  for await (const state of states) {
    yield { state, entry: await entryOf(client, threadId, state, before, runs) };
    before = state;
  }
}

async function printStates(print: Printer, found: Found, reverse: boolean): Promise<void> {
  const states = reverse ? found.oldestFirst() : onlyStates(found);
  await printJsonList(print, states, () => found.next);
}

async function* onlyStates(found: Found): AsyncGenerator<ThreadState> {
  for await (const { state } of found.read()) yield state;
}

async function printEntries(print: Printer, found: Found, flags: HistoryFlags): Promise<void> {
  const { reverse = false, oneline = false, node } = flags;
  const lanes = (flags.graph ?? (!oneline && !reverse && node === undefined)) ? new Lanes() : undefined;
  let count = 0;
  for await (const step of reverse ? found.readReversed() : found.read()) {
    count += 1;
    const lane = printEntry(print, step.entry, oneline, lanes);
    const inner = new InnerLines(print);
    for await (const each of found.inner(step, reverse)) {
      const room = print.width - (lane === undefined ? 0 : lane.length + 1);
      for (const line of inner.linesOf(each, room)) print.data(beside(print, lane, line));
    }
    await print.drained();
  }
  if (count === 0) print.note("no matching checkpoints on this thread");
  if (found.next !== null) print.note(`more checkpoints: --before ${found.next}`);
}

const beside = (print: Printer, lane: string | undefined, text: string): string =>
  lane === undefined ? text : `${print.colors.dim(lane)} ${text}`;

/** Returns the lanes beside further lines of the entry; undefined without a drawing. */
function printEntry(
  print: Printer,
  entry: HistoryEntry,
  oneline: boolean,
  lanes: Lanes | undefined,
): string | undefined {
  const drawn = lanes?.draw(entry);
  const room = print.width - (drawn ? drawn.own.length + 1 : 0);
  const [head = "", ...rest] = entryLines(print, entry, { oneline }, room);
  for (const line of drawn?.before ?? []) print.data(print.colors.dim(line));
  print.data(beside(print, drawn?.own, head));
  for (const line of rest) print.data(beside(print, drawn?.after, line).trimEnd());
  return drawn?.after;
}

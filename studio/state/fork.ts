/** State of a fork: the values to write, the run that follows, and undo. */
import { batch, computed, signal } from "@preact/signals";
import { isRecord, type JsonObject } from "../../src/models/json.js";
import type { StateWriteResult } from "../../src/models/state.js";
import { type ApiError, ask, isReadOnly } from "../api.js";
import { go, place } from "../router.js";
import { type Action, args } from "./copy-as.js";
import { jsonFault } from "./json-fault.js";
import { chosenId, isFollowing, namespace, refresh, row, stepHref, steps, threadId } from "./thread.js";
import { graphOf, type ListedThread } from "./threads.js";

/** Values to write as JSON text, by state key. */
export const drafts = signal<Readonly<Record<string, string>>>({});
/** Node to write as; empty to let the server choose. */
export const asNode = signal("");
export const isSending = signal(false);
export const failure = signal<ApiError | undefined>(undefined);

export const isForking = computed(() => !isReadOnly && place.value.query.fork !== undefined);

/** The last write of this tab: the new step, and the newest step before it. */
export interface Written {
  threadId: string;
  id: string;
  before: string | undefined;
}
export const written = signal<Written | undefined>(undefined);

export function setDraft(key: string, text: string | undefined): void {
  const { [key]: _, ...others } = drafts.value;
  drafts.value = text === undefined ? others : { ...others, [key]: text };
}

/** Position of a JSON syntax error; undefined for valid JSON. */
export function faultOf(text: string): { line: number; column: number } | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return jsonFault(text);
  }
}

const isFaulty = computed(() => Object.values(drafts.value).some((text) => faultOf(text)));

/** Adds a changed message to the draft of a message list. */
export function addMessage(key: string, message: JsonObject): void {
  const text = drafts.value[key] ?? "[]";
  if (faultOf(text)) return;
  const list: unknown = JSON.parse(text);
  const items: unknown[] = Array.isArray(list) ? list : [];
  const others = items.filter((item) => !isRecord(item) || item.id !== message.id);
  setDraft(key, JSON.stringify([...others, message], null, 2));
}

const checkpointOf = (id: string, checkpoint_ns = namespace.value) => ({ checkpoint_id: id, checkpoint_ns });

/** The body of the write as it will be sent; undefined while a draft is invalid JSON. */
export const body = computed(() => {
  const id = chosenId.value;
  if (id === undefined || isFaulty.value) return undefined;
  const values = Object.fromEntries(
    Object.entries(drafts.value).map(([key, text]) => [key, JSON.parse(text) as unknown]),
  );
  return { values, ...(asNode.value !== "" && { as_node: asNode.value }), checkpoint: checkpointOf(id) };
});

const path = (): string => `/threads/${encodeURIComponent(threadId.value)}`;

export const statePath = (): string => `${path()}/state`;

/** Discard the drafts. */
export function reset(): void {
  batch(() => {
    drafts.value = {};
    asNode.value = "";
    failure.value = undefined;
  });
}

/** Thread, namespace and step of the drafts. */
let drafted = "";

/** Drafts belong to one step: they stay while the page shows something else, and newer steps do not replace it. */
export function openDrafts(step: string): void {
  const mine = [threadId.peek(), namespace.peek(), step].join(" ");
  if (mine !== drafted) reset();
  drafted = mine;
  if (isFollowing.peek()) go(stepHref(step, { fork: "1" }), { replace: true });
}

async function sending(work: () => Promise<void>): Promise<void> {
  if (isSending.value) return;
  isSending.value = true;
  failure.value = undefined;
  try {
    await work();
  } catch (error) {
    failure.value = error as ApiError;
  } finally {
    isSending.value = false;
  }
}

/** The write, for "Copy as…". */
export function writeAction(): Action {
  const { values, as_node: asNode, checkpoint } = body.value ?? {};
  const node = asNode === undefined ? [] : ["--as-node", asNode];
  const cli = ["state", "set", threadId.value, "--checkpoint", chosenId.value ?? ""];
  return {
    method: "POST",
    path: statePath(),
    body: body.value,
    sdk: `await client.threads.updateState(${args(threadId.value, { values, asNode, checkpoint })});`,
    // Commands cannot write to subgraphs.
    ...(namespace.value === "" && { cli: [...cli, "--values", JSON.stringify(values), ...node] }),
  };
}

/** The write, followed by a run that resumes from the new step, which is then the newest. */
export function writeAndRunAction(): Action {
  const { values, as_node: asNode, checkpoint } = body.value ?? {};
  const graph = row.value.value ? graphOf(row.value.value) : "";
  const node = asNode === undefined ? [] : ["--as-node", asNode];
  const place = ["fork", threadId.value, "--checkpoint", chosenId.value ?? "", "--branch"];
  return {
    method: "POST",
    path: statePath(),
    body: body.value,
    then: { method: "POST", path: `${path()}/runs`, body: { assistant_id: graph, input: null } },
    sdk: [
      `await client.threads.updateState(${args(threadId.value, { values, asNode, checkpoint })});`,
      `await client.runs.create(${args(threadId.value, graph, { input: null })});`,
    ].join("\n"),
    cli: [...place, "--values", JSON.stringify(values), ...node, "--run"],
  };
}

/** A run from the selected step without changes, for "Copy as…". */
export function runAction(): Action {
  const id = chosenId.value ?? "";
  const graph = row.value.value ? graphOf(row.value.value) : "";
  const request = { input: null, checkpoint: checkpointOf(id) };
  return {
    method: "POST",
    path: `${path()}/runs`,
    body: { assistant_id: graph, ...request },
    sdk: `await client.runs.create(${args(threadId.value, graph, request)});`,
    cli: ["fork", threadId.value, "--checkpoint", id, "--branch", "--run"],
  };
}

/** Where a request is sent from: the page may show something else before it ends. */
interface Origin {
  thread: ListedThread | undefined;
  threadId: string;
  path: string;
  namespace: string;
  drafted: string;
}

const origin = (): Origin => ({
  thread: row.value.value,
  threadId: threadId.value,
  path: path(),
  namespace: namespace.value,
  drafted,
});

const isShown = (from: Origin): boolean =>
  from.threadId === threadId.peek() && from.namespace === namespace.peek();

/** Write and show the result; with `andRun`, run from there. */
export const write = (andRun: boolean): Promise<void> =>
  sending(async () => {
    if (!body.value) return;
    const from = origin();
    const before = steps.value[0]?.id;
    const { body: result } = await ask<StateWriteResult>("POST", statePath(), { body: body.value });
    const id = result.checkpoint.checkpoint_id ?? "";
    if (from.drafted === drafted) reset();
    written.value = { threadId: from.threadId, id, before };
    if (isShown(from)) await refresh();
    if (andRun) run(id, from);
    if (isShown(from)) go(stepHref(andRun ? undefined : id, { fork: undefined, tab: undefined }));
  });

export const runUnchanged = (): Promise<void> =>
  sending(async () => {
    const id = chosenId.value;
    if (id === undefined) return;
    written.value = { threadId: threadId.value, id, before: steps.value[0]?.id };
    run(id, origin());
    go(stepHref(undefined, { fork: undefined }));
  });

/** The run continues when the user leaves this page; its steps arrive like those of any run. */
function run(id: string, from: Origin): void {
  if (!from.thread) return;
  const request = {
    assistant_id: graphOf(from.thread),
    input: null,
    checkpoint: checkpointOf(id, from.namespace),
    on_disconnect: "continue",
  };
  void ask("POST", `${from.path}/runs`, { body: request })
    .catch((error: unknown) => (failure.value = error as ApiError))
    .then(() => (isShown(from) ? refresh() : undefined));
}

const backTo = (id: string) => ({ values: null, checkpoint: { checkpoint_id: id } });

/** The undo request, for "Copy as…". Commands cannot write empty values. */
export const undoAction = (before: string): Action => ({
  method: "POST",
  path: statePath(),
  body: backTo(before),
  sdk: `await client.threads.updateState(${args(threadId.value, backTo(before))});`,
});

/** Make the previously newest branch the newest again by copying its last step. */
export const undo = (): Promise<void> =>
  sending(async () => {
    const { before } = written.value ?? {};
    if (before === undefined) return;
    const from = origin();
    await ask("POST", statePath(), { body: backTo(before) });
    written.value = undefined;
    if (!isShown(from)) return;
    await refresh();
    go(stepHref(undefined));
  });

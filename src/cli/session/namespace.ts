/** Namespaces of subgraphs: those of a state, and the one that `--ns` names. */
import type { ThreadState } from "../../models/state.js";
import { InvalidRequestError } from "../../support/errors.js";
import type { Client } from "../../client/client.js";
import { walkStates } from "../../client/walk.js";

/** A subgraph that a task ran. */
export interface SubgraphRef {
  /** The node. */
  name: string;
  /** Namespace of its checkpoints, such as `pricing:<task id>`. */
  namespace: string;
}

/** Subgraphs of the tasks that start from this state; a task that failed may have run none. */
export function subgraphsOf(
  state: (Pick<ThreadState, "tasks"> & Partial<Pick<ThreadState, "checkpoint">>) | undefined,
): SubgraphRef[] {
  const outer = state?.checkpoint?.checkpoint_ns ?? "";
  return (state?.tasks ?? []).flatMap(({ id, name, error, checkpoint }) => {
    // LangGraph leaves out the namespace of a task that failed.
    const failed = error == null ? undefined : `${outer === "" ? "" : `${outer}|`}${name}:${id}`;
    const namespace = checkpoint?.checkpoint_ns || failed;
    return namespace === undefined ? [] : [{ name, namespace }];
  });
}

// `--ns`: a namespace, its innermost part, the beginning of that part, or the name of a node.

const MOST_LISTED = 10;

/**
 * The namespace that `text` names; of several, the newest.
 * @throws InvalidRequestError if there is none, with the namespaces that exist (`invalid_request`)
 */
export async function findNamespace(client: Client, threadId: string, text: string): Promise<string> {
  if (text === "" || (await hasCheckpoints(client, threadId, text))) return text;
  const wanted = text.split("|");
  const listed: string[] = [];
  for await (const namespace of namespacesOf(client, threadId)) {
    const parts = namespace.split("|").slice(-wanted.length);
    const isNamed = wanted.every((part, index) => names(part, parts[index] ?? ""));
    if (!isNamed && listed.length === MOST_LISTED) continue;
    if (!(await hasCheckpoints(client, threadId, namespace))) continue;
    if (isNamed) return namespace;
    listed.push(namespace);
  }
  throw new InvalidRequestError(
    `thread ${threadId} has no checkpoints in the namespace ${JSON.stringify(text)}`,
    undefined,
    {
      hint:
        listed.length === 0
          ? "its nodes ran no subgraphs: omit --ns to read the thread itself"
          : `use a node, such as --ns ${nameOf(listed[0] ?? "")}, or one of its namespaces: ${listed.join(", ")}`,
    },
  );
}

const names = (wanted: string, part: string): boolean =>
  wanted.includes(":") ? part.startsWith(wanted) : part.split(":", 1)[0] === wanted;

const nameOf = (namespace: string): string => (namespace.split("|").at(-1) ?? "").split(":", 1)[0] ?? "";

/** Namespaces of the thread's subgraphs, those of the newest steps first. */
async function* namespacesOf(client: Client, threadId: string, outer = ""): AsyncGenerator<string> {
  for await (const state of walkStates(client, threadId, within(outer))) {
    for (const { namespace } of subgraphsOf(state)) {
      yield namespace;
      yield* namespacesOf(client, threadId, namespace);
    }
  }
}

/** The part of a history request that selects a namespace. */
export const within = (namespace: string) =>
  namespace === "" ? {} : { checkpoint: { checkpoint_ns: namespace } };

async function hasCheckpoints(client: Client, threadId: string, namespace: string): Promise<boolean> {
  return (await client.threads.getHistory(threadId, { ...within(namespace), limit: 1 })).length > 0;
}

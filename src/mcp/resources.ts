/** Exposes the caller's threads as resources, with their visible values. */
import type {
  ListResourcesResult,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
} from "@modelcontextprotocol/sdk/types.js";
import type { Thread } from "../models/thread.js";
import type { CallerService } from "../service/service.js";
import { InvalidRequestError } from "../support/errors.js";

const PAGE = 50;
const ROOT = "graph-serve://threads/";
const JSON_TYPE = "application/json";

export const THREAD_TEMPLATE: ResourceTemplate = {
  uriTemplate: `${ROOT}{thread_id}`,
  name: "thread",
  title: "Thread",
  description: "A conversation: its status, latest visible values and pending interrupts.",
  mimeType: JSON_TYPE,
};

/** Threads, most recently changed first; the cursor is an offset. */
export async function listThreads(
  { threads }: CallerService,
  cursor: string | undefined,
): Promise<ListResourcesResult> {
  const offset = Number(cursor ?? 0);
  if (cursor !== undefined && !/^\d{1,9}$/.test(cursor))
    throw InvalidRequestError.at(["params", "cursor"], "must be the nextCursor of a list");
  const select = ["thread_id", "status", "updated_at", "metadata"] as const;
  const { items, next } = await threads.search({ limit: PAGE, offset, select: [...select] });
  return {
    resources: items.map((item) => resourceOf(item as Pick<Thread, (typeof select)[number]>)),
    ...(next !== null && { nextCursor: String(next) }),
  };
}

function resourceOf({
  thread_id,
  status,
  updated_at,
  metadata,
}: Pick<Thread, "thread_id" | "status" | "updated_at" | "metadata">): Resource {
  const graph = typeof metadata.graph_id === "string" ? `${metadata.graph_id}, ` : "";
  return {
    uri: ROOT + thread_id,
    name: thread_id,
    description: `${graph}${status}, last changed ${updated_at}`,
    mimeType: JSON_TYPE,
  };
}

/** @throws NotFoundError (`thread_not_found`), also for a thread of another caller */
export async function readThreadResource(
  { threads }: CallerService,
  uri: string,
): Promise<ReadResourceResult> {
  if (!uri.startsWith(ROOT))
    throw InvalidRequestError.at(["params", "uri"], `must be ${THREAD_TEMPLATE.uriTemplate}`);
  const thread = await threads.get(uri.slice(ROOT.length));
  return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(thread, null, 2) }] };
}

import { MAX_LIMIT } from "../../models/common.js";
import type { Thread, ThreadSearchRequest } from "../../models/thread.js";
import type { Source } from "../source/source.js";

export interface PageRequest {
  limit: number;
  offset: number;
  /** ISO 8601; threads that were updated before are left out. */
  since?: string;
}

export interface ThreadPage {
  items: Partial<Thread>[];
  /** Offset at which the search goes on, also when `since` left some of what it found out; null at the end. */
  next: number | null;
}

/** One page of the threads that match, of any length. */
export async function threadPage(
  source: Source,
  request: ThreadSearchRequest,
  { limit, offset, since }: PageRequest,
): Promise<ThreadPage> {
  const items: Partial<Thread>[] = [];
  const isNewestFirst = (request.sort_by ?? "updated_at") === "updated_at" && request.sort_order !== "asc";
  for (let next = offset; ;) {
    const page = await source.threads.search({ ...request, limit: Math.min(limit, MAX_LIMIT), offset: next });
    for (const thread of page.items) {
      if (items.length === limit) return { items, next };
      const isOld = since !== undefined && (thread.updated_at ?? "") < since;
      if (isOld && isNewestFirst) return { items, next: null };
      if (!isOld) items.push(thread);
      next += 1;
    }
    if (page.next === null) return { items, next: null };
    if (items.length === limit) return { items, next };
  }
}

/** Fields of a thread that its stored row and its payload share. */
import type { Static } from "@sinclair/typebox";
import { Type } from "../support/schema-builder.js";
import { Nullable } from "./common.js";

export const THREAD_STATUSES = ["idle", "busy", "interrupted", "error"] as const;
/**
 * Status of a thread: `busy` during a run, `interrupted` while an interrupt is pending.
 * @example
 * ```ts
 * import type { ThreadStatus } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const { thread_id } = await service.threads.create({});
 * const status: ThreadStatus = (await service.threads.get(thread_id)).status;
 * status; // => "idle"
 * ```
 */
export type ThreadStatus = (typeof THREAD_STATUSES)[number];

export const TTL_STRATEGIES = ["delete", "keep_latest"] as const;
export type TtlStrategy = (typeof TTL_STRATEGIES)[number];

export const THREAD_SORT_FIELDS = [
  "thread_id",
  "status",
  "created_at",
  "updated_at",
  "state_updated_at",
] as const;
export type ThreadSortField = (typeof THREAD_SORT_FIELDS)[number];

export const ThreadPreviewModel = Type.Object(
  {
    title: Nullable(Type.String(), {
      description:
        "The first human message, or the first text of a state without messages; at most 200 characters.",
    }),
    messages: Type.Integer({ minimum: 0, description: "Number of messages." }),
    last: Nullable(
      Type.Object({
        type: Type.String({ description: "Type of the message: human, ai, tool, ..." }),
        text: Type.String({ description: "Its text, at most 200 characters." }),
        tools: Type.Array(Type.String(), { description: "Names of the tools that it calls." }),
      }),
      { description: "The last message; null if there is none." },
    ),
    steps: Nullable(Type.Integer({ minimum: 0 }), {
      description: "Number of the latest superstep; null if unknown.",
    }),
  },
  { title: "ThreadPreview", description: "What a list shows of a thread, kept apart from its state." },
);
/**
 * What a list shows of a thread. Texts have at most 200 characters.
 * @example
 * ```ts
 * import type { ThreadPreview } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const { thread_id } = await service.threads.create({});
 * const [thread] = (await service.threads.search({ ids: [thread_id], select: ["preview"] })).items;
 * const preview: ThreadPreview | null | undefined = thread?.preview;
 * preview; // => null
 * ```
 */
export type ThreadPreview = Static<typeof ThreadPreviewModel>;

/** A preview as stored in a thread's row. */
export interface StoredPreview extends Omit<ThreadPreview, "steps"> {
  /**
   * State key that its texts were taken from: clients see the preview only if they may see this key. Without one, it has
   * no texts.
   */
  key?: string;
  steps?: number;
}

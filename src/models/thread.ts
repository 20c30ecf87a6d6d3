import type { Static } from "@sinclair/typebox";
import { Type } from "../support/schema-builder.js";
import {
  AnyObject,
  Limit,
  MAX_LIMIT,
  Nullable,
  Offset,
  Opt,
  Selected,
  Selection,
  SortOrder,
  StringEnum,
  Timestamp,
  Uuid,
} from "./common.js";
import { MAX_PATH_LENGTH } from "./value-path.js";
import { CommandModel } from "./command.js";
import { InterruptModel } from "./state.js";
import {
  THREAD_SORT_FIELDS,
  THREAD_STATUSES,
  ThreadPreviewModel,
  TTL_STRATEGIES,
  type TtlStrategy,
} from "./thread-fields.js";

/** Maximum time to live: 365 days, in minutes. */
export const MAX_TTL_MINUTES = 525_600;
/** The setting `ttl`: defaults for threads and store items that have no ttl of their own. */
export interface DefaultTtl {
  threads?: { minutes: number; strategy?: TtlStrategy };
  store?: { minutes?: number; refresh_on_read?: boolean };
  usage?: { days: number };
  sweep_interval_minutes?: number;
}
/** Maximum number of values that one search can extract. */
export const MOST_EXTRACTED = 10;

const ThreadTtl = Type.Object(
  {
    strategy: StringEnum(TTL_STRATEGIES, {
      description: "What happens on expiry: delete the thread, or keep only its latest checkpoint.",
    }),
    ttl_minutes: Type.Number({ description: "Minutes until expiry after the last update." }),
    expires_at: Timestamp("When it expires; every run, state write and patch extends it."),
  },
  { title: "ThreadTtl", description: "Time to live of a thread." },
);

export const ThreadModel = Type.Object(
  {
    thread_id: Uuid("Id of the thread."),
    created_at: Timestamp("When the thread was created."),
    updated_at: Timestamp("When the thread last changed."),
    state_updated_at: Nullable(Timestamp("When the thread's state last changed.")),
    metadata: AnyObject({ description: "Metadata of the thread." }),
    config: AnyObject({ description: "Config of the last run, with secrets masked." }),
    status: StringEnum(THREAD_STATUSES, { description: "Status of the thread." }),
    values: AnyObject({ description: "Latest values in the output schema." }),
    interrupts: Type.Record(Type.String(), Type.Array(InterruptModel), {
      description: "Open interrupts by task id.",
    }),
    error: Nullable(Type.String(), { description: "Message of the error that ended the last run." }),
    ttl: Nullable(ThreadTtl, { description: "Time to live, or null." }),
    preview: Type.Optional(
      Nullable(ThreadPreviewModel, {
        description:
          "Title and last message, without reading the state; only if `select` names it. Null if nothing of it is visible.",
      }),
    ),
    extracted: Type.Optional(AnyObject({ description: "Values picked by `extract`." })),
  },
  { title: "ThreadModel", description: "A conversation and its evolving state." },
);
/**
 * A conversation and its state. Times are ISO 8601; the time to live is in minutes.
 * @example
 * ```ts
 * import type { Thread } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const thread: Thread = await service.threads.create({ metadata: { project: "demo" } });
 * thread.metadata; // => { project: "demo" }
 * ```
 */
export type Thread = Static<typeof ThreadModel>;

export const SelectedThread = Selected(ThreadModel, "SelectedThread");

const TtlMinutes = Type.Number({
  exclusiveMinimum: 0,
  maximum: MAX_TTL_MINUTES,
  description: "Minutes to live.",
});
const TtlRequest = Type.Union([
  TtlMinutes,
  Type.Object({
    strategy: Opt(StringEnum(TTL_STRATEGIES), {
      description: "What happens on expiry. Default: delete.",
    }),
    ttl: Opt(TtlMinutes, { description: "Minutes to live; null for no expiry." }),
  }),
]);
export type TtlRequest = Static<typeof TtlRequest>;
/** Time to live after the last run, in minutes, of a thread created by an MCP tool call or an A2A task. */
export const CONVERSATION_TTL_MINUTES = 10_080;

const ttlField = Opt(TtlRequest, {
  description: "Time to live: minutes, or {strategy, ttl}. Default: the setting `ttl`.",
});

const SuperstepModel = Type.Object(
  {
    updates: Type.Array(
      Type.Object({
        values: Type.Optional(Type.Unknown({ description: "Values that the node writes." })),
        command: Opt(CommandModel, { description: "A command instead of values." }),
        as_node: Opt(Type.String(), { description: "Node that the write is attributed to." }),
      }),
      { description: "Node updates of this superstep.", minItems: 1 },
    ),
  },
  { title: "SuperstepModel", description: "Updates applied together, before any run executes." },
);
export type Superstep = Static<typeof SuperstepModel>;

export const ThreadCreateRequest = Type.Object(
  {
    thread_id: Opt(Uuid("Id of the new thread. Default: generated.")),
    metadata: Opt(AnyObject(), { description: "Metadata of the thread." }),
    if_exists: Opt(StringEnum(["raise", "do_nothing"], { default: "raise" }), {
      description: "If the id exists: raise responds with 409, do_nothing returns the existing thread.",
    }),
    ttl: ttlField,
    supersteps: Opt(Type.Array(SuperstepModel), { description: "Initial state of the thread." }),
  },
  { title: "ThreadCreateRequest", description: "A thread to create." },
);
/**
 * A thread to create. The time to live is in minutes.
 * @example
 * ```ts
 * import type { ThreadCreateRequest } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const request: ThreadCreateRequest = { metadata: { project: "demo" }, ttl: 60 };
 * const thread = await service.threads.create(request);
 * thread.status; // => "idle"
 * ```
 */
export type ThreadCreateRequest = Static<typeof ThreadCreateRequest>;

export const ThreadPatchRequest = Type.Object(
  {
    metadata: Opt(AnyObject(), { description: "Merged into the thread's metadata, key by key." }),
    ttl: ttlField,
  },
  { title: "ThreadPatchRequest", description: "Changes to a thread." },
);
export type ThreadPatchRequest = Static<typeof ThreadPatchRequest>;

export const ThreadCopyQuery = Type.Object({
  checkpoint_id: Type.Optional(Type.String({ description: "Checkpoint to copy. Default: the latest one." })),
});

export const ThreadPruneRequest = Type.Object(
  {
    thread_ids: Type.Array(Uuid("Id of a thread."), {
      minItems: 1,
      maxItems: MAX_LIMIT,
      description: "Threads to prune; those that do not exist are skipped.",
    }),
    strategy: Opt(StringEnum(TTL_STRATEGIES, { default: "delete" }), {
      description: "delete removes the threads; keep_latest removes all checkpoints except the latest.",
    }),
  },
  { title: "ThreadPruneRequest", description: "Threads to delete, or to reduce to their latest state." },
);
export type ThreadPruneRequest = Static<typeof ThreadPruneRequest>;

export const ThreadPruneResponse = Type.Object(
  { pruned_count: Type.Integer({ minimum: 0, description: "Number of threads that were pruned." }) },
  { title: "ThreadPruneResponse", description: "Result of a prune." },
);
export type ThreadPruneResult = Static<typeof ThreadPruneResponse>;

export const THREAD_FIELDS = [
  "thread_id",
  "created_at",
  "updated_at",
  "state_updated_at",
  "metadata",
  "config",
  "context",
  "status",
  "values",
  "interrupts",
  "error",
  "ttl",
] as const;
/** Fields that a search returns only if `select` names them. */
export const EXTRA_THREAD_FIELDS = ["preview"] as const;
const LONGEST_QUERY = 200;

const threadFilter = {
  ids: Opt(Type.Array(Uuid("Id of a thread."), { maxItems: MAX_LIMIT }), {
    description: "Only these threads.",
  }),
  metadata: Opt(AnyObject(), { description: "Only threads whose metadata contains this object." }),
  values: Opt(AnyObject(), { description: "Only threads whose visible values contain this object." }),
  status: Opt(StringEnum(THREAD_STATUSES), { description: "Only threads of this status." }),
  query: Opt(Type.String({ minLength: 1, maxLength: LONGEST_QUERY }), {
    description: "Only threads with this text in their id, metadata or visible values, ignoring case.",
  }),
};

export const ThreadSearchRequest = Type.Object(
  {
    ...threadFilter,
    limit: Opt(Limit),
    offset: Opt(Offset),
    sort_by: Opt(StringEnum(THREAD_SORT_FIELDS), {
      description: "Field to sort by. Default: updated_at.",
    }),
    sort_order: Opt(SortOrder, { description: "Sort direction. Default: desc." }),
    select: Opt(Selection([...THREAD_FIELDS, ...EXTRA_THREAD_FIELDS])),
    extract: Opt(
      Type.Record(Type.String(), Type.String({ maxLength: MAX_PATH_LENGTH }), {
        maxProperties: MOST_EXTRACTED,
      }),
      {
        description:
          "Values to return in `extracted`: a map of name to path, such as values.messages[-1].content.",
      },
    ),
  },
  { title: "ThreadSearchRequest", description: "Filters, order, page and fields of a thread search." },
);
/**
 * Filters, order, page and fields of a thread search.
 * @example
 * ```ts
 * import type { ThreadSearchRequest } from "graph-serve";
 * import { service } from "./service.js";
 *
 * await service.threads.create({ metadata: { project: "search" } });
 * const request: ThreadSearchRequest = { metadata: { project: "search" }, limit: 10, sort_by: "created_at" };
 * const { items } = await service.threads.search(request);
 * items.length; // => 1
 * ```
 */
export type ThreadSearchRequest = Static<typeof ThreadSearchRequest>;

export const ThreadCountRequest = Type.Object(threadFilter, {
  title: "ThreadCountRequest",
  description: "Filters of a thread count.",
});
export type ThreadCountRequest = Static<typeof ThreadCountRequest>;

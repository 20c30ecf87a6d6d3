import type { Static } from "@sinclair/typebox";
import { Type } from "../support/schema-builder.js";
import {
  AnyObject,
  fieldsOf,
  Limit,
  Nullable,
  Opt,
  Selected,
  Selection,
  Timestamp,
  type JsonObject,
} from "./common.js";

export const CheckpointConfigModel = Type.Object(
  {
    thread_id: Opt(Type.String(), {
      description: "Thread of the checkpoint. Default: the thread in the path.",
    }),
    checkpoint_ns: Opt(Type.String(), {
      description: 'Namespace: "" is the root graph, others name a subgraph.',
    }),
    checkpoint_id: Opt(Type.String(), { description: "Id of the checkpoint. Default: the latest one." }),
    checkpoint_map: Opt(AnyObject(), { description: "Checkpoint ids of the parent graphs by namespace." }),
  },
  { title: "CheckpointConfigModel", description: "Selects a checkpoint of a thread." },
);
export type CheckpointSelector = Static<typeof CheckpointConfigModel>;

/**
 * A checkpoint as responses identify it: all four fields are present.
 * @example
 * ```ts
 * import type { CheckpointConfig } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const { thread_id } = await service.threads.create({});
 * await service.runs.create(thread_id, { assistant_id: "agent", input: { name: "Ada" } });
 * const latest: CheckpointConfig | null = (await service.state.get(thread_id)).checkpoint;
 * latest?.checkpoint_ns; // => ""
 * ```
 */
export interface CheckpointConfig {
  /** UUID of the thread. */
  thread_id: string;
  /** Namespace; empty for the root graph. */
  checkpoint_ns: string;
  /** Id of the checkpoint; null if the thread has none. */
  checkpoint_id: string | null;
  /** Checkpoint ids of the parent graphs by namespace. */
  checkpoint_map: JsonObject | null;
}

const CheckpointRef = Type.Object(
  {
    thread_id: Type.String({ description: "Thread of the checkpoint." }),
    checkpoint_ns: Type.String({ description: 'Namespace: "" is the root graph.' }),
    checkpoint_id: Nullable(Type.String(), { description: "Id of the checkpoint." }),
    checkpoint_map: Nullable(AnyObject(), {
      description: "Checkpoint ids of the parent graphs by namespace.",
    }),
  },
  { title: "CheckpointRef", description: "A full reference to a checkpoint." },
);

export const StateWriteResponse = Type.Object(
  {
    ...CheckpointRef.properties,
    checkpoint: CheckpointRef,
    configurable: Type.Intersect([CheckpointRef], {
      description: "The same checkpoint, as a LangGraph config.",
    }),
  },
  {
    title: "StateWriteResponse",
    description: "The checkpoint created by a state write (a CheckpointConfigModel with additional fields).",
  },
);
export interface StateWriteResult extends CheckpointConfig {
  checkpoint: CheckpointConfig;
  configurable: CheckpointConfig;
}

export const InterruptModel = Type.Object(
  {
    id: Type.String({ description: "Id of the interrupt; can be used as a key of a resume map." }),
    value: Type.Unknown({ description: "Value that the graph passed to interrupt()." }),
  },
  { title: "InterruptModel", description: "A pending interrupt of the graph." },
);
/**
 * A pending interrupt of a graph: its id, and the value passed to `interrupt()`.
 * @example
 * ```ts
 * import type { Interrupt } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const { thread_id } = await service.threads.create({});
 * await service.runs.create(thread_id, { assistant_id: "approval", input: { amount: 10 } });
 * const [interrupt]: Interrupt[] = (await service.state.get(thread_id)).interrupts;
 * interrupt?.value; // => "Pay 10 euros?"
 * ```
 */
export type Interrupt = Static<typeof InterruptModel>;

const ThreadTaskModel = Type.Object(
  {
    id: Type.String({ description: "Id of the task." }),
    name: Type.String({ description: "Node that the task runs." }),
    path: Type.Array(Type.Unknown(), { description: "Origin of the task in the superstep." }),
    error: Nullable(Type.String(), { description: "JSON text of the error that ended the task." }),
    interrupts: Type.Array(InterruptModel, { description: "Open interrupts of the task." }),
    checkpoint: Nullable(CheckpointRef, { description: "Checkpoint of the subgraph that the task runs." }),
    state: Nullable(Type.Unsafe<JsonObject>({ $ref: "#/components/schemas/ThreadStateModel" }), {
      description: "State of that subgraph, if `subgraphs` was requested.",
    }),
    result: Type.Unknown({ description: "Values that the task wrote, if it has ended." }),
  },
  { title: "ThreadTaskModel", description: "A task of the next superstep." },
);
export type ThreadTask = Omit<Static<typeof ThreadTaskModel>, "state" | "checkpoint"> & {
  checkpoint: CheckpointConfig | null;
  state: ThreadState | null;
};

const UnfinishedStepModel = Type.Object(
  {
    run_id: Nullable(Type.String(), {
      description: "Run of the superstep; null if unknown.",
    }),
    tasks: Type.Array(Type.String(), { description: "Ids of the tasks that have ended." }),
  },
  {
    title: "UnfinishedStepModel",
    description:
      "Present at the latest checkpoint if some tasks of the next superstep have finished but the superstep has not: its run is active, interrupted, failed, or lost its server. Writes of those tasks are visible in the thread's values but are in no checkpoint; a run with new input discards them.",
  },
);
export type UnfinishedStep = Static<typeof UnfinishedStepModel>;

export const ThreadStateModel = Type.Object(
  {
    values: Type.Unknown({ description: "State values in the output schema." }),
    next: Type.Array(Type.String(), { description: "Nodes that run next." }),
    tasks: Type.Array(ThreadTaskModel, { description: "Tasks of the next superstep." }),
    checkpoint: Nullable(CheckpointRef, { description: "This checkpoint; null if the thread has none." }),
    metadata: AnyObject({ description: "Checkpoint metadata: source, step, parents, run_id and more." }),
    created_at: Nullable(Timestamp("When the checkpoint was written.")),
    parent_checkpoint: Nullable(CheckpointRef, { description: "The checkpoint before this one." }),
    interrupts: Type.Array(InterruptModel, { description: "Open interrupts of all tasks." }),
    unfinished_step: Type.Optional(UnfinishedStepModel),
  },
  { title: "ThreadStateModel", description: "State of a thread at a checkpoint." },
);
/**
 * State of a thread at a checkpoint.
 * @example
 * ```ts
 * import type { ThreadState } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const { thread_id } = await service.threads.create({});
 * await service.runs.create(thread_id, { assistant_id: "agent", input: { name: "Ada" } });
 * const state: ThreadState = await service.state.get(thread_id);
 * state.values; // => { name: "Ada", greeting: "Hello Ada" }
 * state.next; // => []
 * ```
 */
export interface ThreadState {
  /** State values in the output schema. */
  values: unknown;
  /** Nodes that run next. */
  next: string[];
  /** Tasks of the next superstep. */
  tasks: ThreadTask[];
  /** This checkpoint; null if the thread has none. */
  checkpoint: CheckpointConfig | null;
  /** Checkpoint metadata: source, step, parents, run_id and more. */
  metadata: JsonObject;
  /** When the checkpoint was written, ISO 8601. */
  created_at: string | null;
  /** The checkpoint before this one. */
  parent_checkpoint: CheckpointConfig | null;
  /** Open interrupts of all tasks. */
  interrupts: Interrupt[];
  /** Present if some tasks of the next superstep have ended, but the superstep has not. */
  unfinished_step?: UnfinishedStep;
}

export const STATE_FIELDS = fieldsOf(ThreadStateModel);

/** Fields that a history only has if they are selected. */
export const CHANGE_FIELDS = ["changed_keys", "changed_messages"] as const;

/** Only included in a history on request. */
const ChangedKeys = Nullable(Type.Array(Type.String()), {
  description:
    "Visible state keys written since the previous checkpoint, sorted; all keys if there is no previous checkpoint, null if it has been deleted. Only included if `select` contains it.",
});

const Count = (description: string) => Type.Integer({ minimum: 0, description });

const MessageCounts = Type.Object(
  {
    added: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
      description: "Added messages by type, such as `ai`, `human` or `tool`.",
    }),
    tool_calls: Count("Tool calls of the added messages."),
    removed: Count("Removed messages."),
    replaced: Count("Messages that kept their id and got another content."),
  },
  { title: "MessageCounts", description: "How a step changed a list of messages." },
);
/** How a step changed a list of messages. */
export type MessageCounts = Static<typeof MessageCounts>;

/** By state key. */
export type ChangedMessages = Record<string, MessageCounts>;

/** Only included in a history on request. */
const ChangedMessages = Type.Record(Type.String(), MessageCounts, {
  description:
    "Messages added, removed and replaced since the previous checkpoint, by visible state key. Counted when the server stores the checkpoint: empty if no list of messages changed, and for checkpoints stored by other programs or before version 0.2. Only included if `select` contains it.",
});

export const SelectedState = Type.Object(
  {
    ...Selected(ThreadStateModel, "").properties,
    changed_keys: Type.Optional(ChangedKeys),
    changed_messages: Type.Optional(ChangedMessages),
  },
  {
    title: "SelectedState",
    description: "The selected fields of a ThreadStateModel, `changed_keys` and `changed_messages`.",
  },
);
export interface SelectedState extends Partial<ThreadState> {
  changed_keys?: string[] | null;
  changed_messages?: ChangedMessages;
}

export const StateSelection = Selection([...STATE_FIELDS, ...CHANGE_FIELDS]);

const writtenValues = Type.Union([AnyObject(), Type.Array(Type.Unknown()), Type.Null()], {
  description: "Values to write, passed through the graph's reducers; null forks without a change.",
});

export const ThreadStateUpdateRequest = Type.Object(
  {
    values: Type.Optional(writtenValues),
    as_node: Opt(Type.String(), { description: "Node that the write is attributed to." }),
    checkpoint: Opt(CheckpointConfigModel, {
      description: "Checkpoint to write from. Default: the latest one.",
    }),
    checkpoint_id: Opt(Type.String(), { description: "Id of the checkpoint to write from." }),
  },
  { title: "ThreadStateUpdateRequest", description: "An edit of a thread's state." },
);
export type ThreadStateUpdateRequest = Static<typeof ThreadStateUpdateRequest>;

/** A checkpoint in any of the forms that clients send: id, flat, `{configurable}`, `{checkpoint}`. */
export const CheckpointLike = Type.Union(
  [
    Type.String(),
    Type.Intersect([
      CheckpointConfigModel,
      Type.Object({ configurable: Opt(CheckpointConfigModel), checkpoint: Opt(CheckpointConfigModel) }),
    ]),
  ],
  {
    description: "Checkpoint id, or a checkpoint config (flat, under `configurable`, or under `checkpoint`).",
  },
);
export type CheckpointLike = Static<typeof CheckpointLike>;

export const ThreadStateSearchRequest = Type.Object(
  {
    limit: Opt(Limit),
    before: Opt(CheckpointLike, {
      description: "Only states before this checkpoint (an id or a checkpoint config).",
    }),
    metadata: Opt(AnyObject(), { description: "Only checkpoints whose metadata contains these values." }),
    checkpoint: Opt(CheckpointConfigModel, {
      description: "Namespace (`checkpoint_ns`) of the history.",
    }),
    select: Opt(StateSelection, {
      description:
        "Fields of each state to return. Default: all except `changed_keys` and `changed_messages`. Omit `values` for faster reads from a storage that stores them separately.",
    }),
  },
  { title: "ThreadStateSearchRequest", description: "Filters of a history." },
);
export type ThreadStateSearchRequest = Static<typeof ThreadStateSearchRequest>;

export const StateAtCheckpointRequest = Type.Object(
  {
    ...CheckpointConfigModel.properties,
    checkpoint: Opt(CheckpointConfigModel, {
      description: "The selector in the nested form of SDK clients.",
    }),
    subgraphs: Opt(Type.Boolean({ default: false }), { description: "Also return the states of subgraphs." }),
  },
  { title: "StateAtCheckpointRequest", description: "A CheckpointConfigModel, flat or under `checkpoint`." },
);
export type StateAtCheckpointRequest = Static<typeof StateAtCheckpointRequest>;

import { Type, type Static } from "@sinclair/typebox";
import {
  AnyObject,
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
      description: "Thread of the checkpoint; the path's thread when left out.",
    }),
    checkpoint_ns: Opt(Type.String(), {
      description: 'Namespace: "" is the root graph, others name a subgraph.',
    }),
    checkpoint_id: Opt(Type.String(), { description: "Id of the checkpoint; the latest one when left out." }),
    checkpoint_map: Opt(AnyObject(), { description: "Checkpoint ids of the parent graphs by namespace." }),
  },
  { title: "CheckpointConfigModel", description: "Selects a checkpoint of a thread." },
);
export type CheckpointSelector = Static<typeof CheckpointConfigModel>;

/** A checkpoint as answers name it: all four fields present. */
export interface CheckpointConfig {
  thread_id: string;
  checkpoint_ns: string;
  checkpoint_id: string | null;
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
  { title: "CheckpointRef", description: "A checkpoint, named in full." },
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
    description: "The checkpoint that a state write made (a CheckpointConfigModel and more).",
  },
);
export interface StateWriteResult extends CheckpointConfig {
  checkpoint: CheckpointConfig;
  configurable: CheckpointConfig;
}

export const InterruptModel = Type.Object(
  {
    id: Type.String({ description: "Id of the interrupt; a resume map may be keyed by it." }),
    value: Type.Unknown({ description: "What the graph passed to interrupt()." }),
  },
  { title: "InterruptModel", description: "A question that the graph waits on." },
);
export type Interrupt = Static<typeof InterruptModel>;

const ThreadTaskModel = Type.Object(
  {
    id: Type.String({ description: "Id of the task." }),
    name: Type.String({ description: "Node that the task runs." }),
    path: Type.Array(Type.Unknown(), { description: "Where the task comes from in the superstep." }),
    error: Nullable(Type.String(), { description: "JSON text of the error that ended the task." }),
    interrupts: Type.Array(InterruptModel, { description: "Open interrupts of the task." }),
    checkpoint: Nullable(CheckpointRef, { description: "Checkpoint of the subgraph that the task runs." }),
    state: Nullable(Type.Unsafe<JsonObject>({ $ref: "#/components/schemas/ThreadStateModel" }), {
      description: "State of that subgraph, when `subgraphs` was asked for.",
    }),
    result: Type.Unknown({ description: "What the task wrote, when it has ended." }),
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
      description: "Run whose superstep it is; null when that is not known.",
    }),
    tasks: Type.Array(Type.String(), { description: "Ids of the tasks that have ended." }),
  },
  {
    title: "UnfinishedStepModel",
    description:
      "Present at the latest checkpoint if some tasks of the next superstep have finished but the superstep has not: its run is in flight, interrupted, failed, or lost its server. Writes of those tasks are visible in the thread's values but are in no checkpoint; a run with new input discards them.",
  },
);
export type UnfinishedStep = Static<typeof UnfinishedStepModel>;

export const ThreadStateModel = Type.Object(
  {
    values: Type.Unknown({ description: "State values that the output schema lets through." }),
    next: Type.Array(Type.String(), { description: "Nodes that run next." }),
    tasks: Type.Array(ThreadTaskModel, { description: "Tasks of the next superstep." }),
    checkpoint: Nullable(CheckpointRef, { description: "This checkpoint; null when the thread has none." }),
    metadata: AnyObject({ description: "Checkpoint metadata: source, step, parents, run_id and more." }),
    created_at: Nullable(Timestamp("When the checkpoint was written.")),
    parent_checkpoint: Nullable(CheckpointRef, { description: "The checkpoint before this one." }),
    interrupts: Type.Array(InterruptModel, { description: "Open interrupts of all tasks." }),
    unfinished_step: Type.Optional(UnfinishedStepModel),
  },
  { title: "ThreadStateModel", description: "State of a thread at a checkpoint." },
);
export interface ThreadState {
  values: unknown;
  next: string[];
  tasks: ThreadTask[];
  checkpoint: CheckpointConfig | null;
  metadata: JsonObject;
  created_at: string | null;
  parent_checkpoint: CheckpointConfig | null;
  interrupts: Interrupt[];
  unfinished_step?: UnfinishedStep;
}

export const STATE_FIELDS = [
  "values",
  "next",
  "tasks",
  "checkpoint",
  "metadata",
  "created_at",
  "parent_checkpoint",
  "interrupts",
  "unfinished_step",
] as const;

/** Fields of a state that a history contains only on request. */
const ChangedKeys = Nullable(Type.Array(Type.String()), {
  description:
    "Visible keys of the state that were written since the checkpoint before, sorted; all that it holds when there is none before it, null when that is gone. Only when `select` names it.",
});

export const SelectedState = Type.Object(
  {
    ...Selected(ThreadStateModel, "").properties,
    changed_keys: Type.Optional(ChangedKeys),
  },
  {
    title: "SelectedState",
    description: "The fields of a ThreadStateModel that were asked for, and `changed_keys`.",
  },
);
export interface SelectedState extends Partial<ThreadState> {
  changed_keys?: string[] | null;
}

/** Fields of the states of a history. */
export const StateSelection = Selection([...STATE_FIELDS, "changed_keys"]);

const writtenValues = Type.Union([AnyObject(), Type.Array(Type.Unknown()), Type.Null()], {
  description: "Values to write, passed through the graph's reducers; null forks without a change.",
});

export const ThreadStateUpdateRequest = Type.Object(
  {
    values: Type.Optional(writtenValues),
    as_node: Opt(Type.String(), { description: "Node that the write is attributed to." }),
    checkpoint: Opt(CheckpointConfigModel, {
      description: "Checkpoint to write from; the latest when left out.",
    }),
    checkpoint_id: Opt(Type.String(), { description: "Id of the checkpoint to write from." }),
  },
  { title: "ThreadStateUpdateRequest", description: "An edit of a thread's state." },
);
export type ThreadStateUpdateRequest = Static<typeof ThreadStateUpdateRequest>;

/** A checkpoint named in any of the forms that clients send: id, flat, `{configurable}`, `{checkpoint}`. */
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
    metadata: Opt(AnyObject(), { description: "Only checkpoints whose metadata holds these values." }),
    checkpoint: Opt(CheckpointConfigModel, {
      description: "Namespace (`checkpoint_ns`) whose history is asked for.",
    }),
    select: Opt(StateSelection, {
      description:
        "Fields of each state to return; all but `changed_keys` when left out or empty. Without `values`, a storage that keeps them apart does not read them.",
    }),
  },
  { title: "ThreadStateSearchRequest", description: "Filters of a history." },
);
export type ThreadStateSearchRequest = Static<typeof ThreadStateSearchRequest>;

export const StateAtCheckpointRequest = Type.Object(
  {
    ...CheckpointConfigModel.properties,
    checkpoint: Opt(CheckpointConfigModel, { description: "The selector, as SDK clients nest it." }),
    subgraphs: Opt(Type.Boolean({ default: false }), { description: "Also return the states of subgraphs." }),
  },
  { title: "StateAtCheckpointRequest", description: "A CheckpointConfigModel, flat or under `checkpoint`." },
);
export type StateAtCheckpointRequest = Static<typeof StateAtCheckpointRequest>;

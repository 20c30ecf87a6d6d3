import { Type, type Static } from "@sinclair/typebox";
import {
  AnyObject,
  Limit,
  MAX_LIMIT,
  Nullable,
  Offset,
  Opt,
  Selected,
  Selection,
  StringEnum,
  Timestamp,
  Uuid,
} from "./common.js";
import { CheckpointConfigModel } from "./state.js";

export const RUN_STATUSES = ["pending", "running", "success", "error", "timeout", "interrupted"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
const RunStatusSchema = StringEnum(RUN_STATUSES, { description: "Status of the run." });

const MULTITASK_STRATEGIES = ["enqueue", "reject", "rollback", "interrupt"] as const;
export type MultitaskStrategy = (typeof MULTITASK_STRATEGIES)[number];

export const STREAM_MODES = [
  "values",
  "updates",
  "messages",
  "messages-tuple",
  "custom",
  "events",
  "debug",
  "tasks",
  "checkpoints",
  "tools",
] as const;
export type StreamMode = (typeof STREAM_MODES)[number];

export const TokenUsage = Type.Object(
  {
    input_tokens: Type.Integer({ description: "Tokens sent to models." }),
    output_tokens: Type.Integer({ description: "Tokens that models answered." }),
    total_tokens: Type.Integer({ description: "All tokens." }),
    source: Type.Optional(
      StringEnum(["callbacks", "messages"], {
        description:
          "Where the figures come from: callbacks are what models reported in this run; messages is the sum over the AI messages of the final state, where no model reported any, and covers the whole thread.",
      }),
    ),
  },
  { title: "TokenUsage", description: "Tokens that a run used." },
);
export type TokenUsage = Static<typeof TokenUsage>;

const NodeInput = Type.Object(
  {
    node: Type.String({ description: "Node to go to." }),
    input: Type.Unknown({ description: "Input of that node." }),
  },
  { description: "A node with an input of its own." },
);
const GotoTarget = Type.Union([Type.String(), NodeInput]);

/** A key and a value; JSON Schema 2020-12 spells a tuple `prefixItems`. */
const Entry = Type.Unsafe<[string, unknown]>({
  type: "array",
  prefixItems: [Type.String(), Type.Unknown()],
  items: false,
  minItems: 2,
  maxItems: 2,
});

export const CommandModel = Type.Object(
  {
    update: Opt(Type.Union([AnyObject(), Type.Array(Entry)]), {
      description: "State update: an object, or pairs of key and value.",
    }),
    resume: Type.Optional(
      Type.Unknown({ description: "Answer to the open interrupt, or a map of interrupt id to answer." }),
    ),
    goto: Opt(Type.Union([GotoTarget, Type.Array(GotoTarget)]), {
      description: "Node or nodes to go to, each a name or {node, input}.",
    }),
  },
  { title: "CommandModel", description: "Resumes or steers a graph." },
);
export type CommandRequest = Static<typeof CommandModel>;

const InterruptNodes = Type.Union([StringEnum(["*"]), Type.Array(Type.String())]);

export const RunCreateRequest = Type.Object(
  {
    assistant_id: Type.String({ description: "Assistant to run: a graph id or the assistant's UUID." }),
    input: Type.Optional(
      Type.Unknown({ description: "New state to merge in; `input.messages` becomes messages." }),
    ),
    command: Opt(CommandModel, { description: "Resume or steer the graph; wins over `input`." }),
    checkpoint: Opt(CheckpointConfigModel, { description: "Checkpoint to start from." }),
    checkpoint_id: Opt(Type.String(), { description: "Id of the checkpoint to start from." }),
    stream_mode: Opt(Type.Union([StringEnum(STREAM_MODES), Type.Array(StringEnum(STREAM_MODES))]), {
      description: 'What the stream carries; ["values"] when left out or empty.',
      default: ["values"],
    }),
    multitask_strategy: Opt(StringEnum(MULTITASK_STRATEGIES, { default: "enqueue" }), {
      description:
        "What to do when the thread is busy: enqueue waits, the others answer 409. The settings multitask_strategy and multitask_cancel change that.",
    }),
    if_not_exists: Opt(StringEnum(["reject", "create"], { default: "reject" }), {
      description:
        "What to do when the thread does not exist. A thread that is created gets the metadata of the run.",
    }),
    config: Opt(AnyObject(), {
      description: "Config of the graph invocation: configurable, tags, recursion_limit.",
    }),
    context: Opt(AnyObject(), { description: "Context of the graph invocation." }),
    metadata: Opt(AnyObject(), { description: "Metadata of the run." }),
    stream_subgraphs: Opt(Type.Boolean({ default: false }), {
      description: "Stream the events of subgraphs too.",
    }),
    strict_resume: Opt(Type.Boolean({ default: false }), {
      description:
        "Fail a run that answers what the thread does not ask when its turn comes, instead of ignoring the answer; the thread stays as it was.",
    }),
    stream_resumable: Opt(Type.Boolean({ default: false }), { description: "Accepted for SDK clients." }),
    interrupt_before: Opt(InterruptNodes, {
      description: 'Nodes to stop before; "*" is all, "child:node" one inside of the graph that a node is.',
    }),
    interrupt_after: Opt(InterruptNodes, {
      description: 'Nodes to stop after; "*" is all, "child:node" one inside of the graph that a node is.',
    }),
    on_disconnect: Opt(StringEnum(["cancel", "continue"]), {
      description:
        "What happens to the run when its client disconnects: cancel interrupts it, continue keeps it running. Default: the setting on_disconnect.",
    }),
    durability: Opt(StringEnum(["sync", "async", "exit"]), {
      description: "When checkpoints are written: before the next superstep, meanwhile, or at the end.",
    }),
    checkpoint_during: Opt(Type.Boolean(), {
      description: "Deprecated: false is durability exit, true is async.",
    }),
    feedback_keys: Opt(Type.Array(Type.String()), { description: "Accepted and ignored." }),
    on_completion: Opt(StringEnum(["delete", "keep"]), { description: "Accepted and ignored on threads." }),
    langsmith_tracer: Opt(AnyObject(), { description: "Accepted and ignored." }),
    after_seconds: Opt(Type.Number(), {
      description:
        "Seconds until the run takes its place on the thread; it is answered at once. Refused with 400 while the setting delayed_runs is off.",
    }),
    idempotency_key: Opt(Type.String(), {
      description: "As the header Idempotency-Key: the same request again is answered with the same run.",
    }),
    webhook: Opt(Type.String(), {
      description:
        "URL to which the run is posted when it has ended. Refused with 400 while the setting webhooks is off.",
    }),
  },
  { title: "RunCreateRequest", description: "A run to execute." },
);
export type RunCreateRequest = Static<typeof RunCreateRequest>;

export const RunModel = Type.Object(
  {
    run_id: Uuid("Id of the run."),
    thread_id: Uuid("Thread that the run belongs to."),
    assistant_id: Type.String({ description: "Assistant that the run was invoked with." }),
    created_at: Timestamp("When the run was accepted."),
    updated_at: Timestamp("When the run's row last changed."),
    status: RunStatusSchema,
    metadata: AnyObject({ description: "Metadata of the request, with graph_id and assistant_id." }),
    kwargs: AnyObject({
      description:
        "Invocation parameters: input, config, checkpoint, stream options; secrets of config and context masked.",
    }),
    multitask_strategy: StringEnum(MULTITASK_STRATEGIES, { description: "Strategy that the request used." }),
    error: Nullable(Type.String(), { description: "Error message of a failed run, else null." }),
    usage: Nullable(TokenUsage, { description: "Tokens that the run used; null until it has ended." }),
    attempt: Type.Integer({
      minimum: 0,
      description:
        "Number of started executions: 0 while it waits for its thread, more than 1 if another process resumed it.",
    }),
  },
  { title: "RunModel", description: "One execution of a graph against a thread." },
);
export type Run = Static<typeof RunModel>;

export const RUN_FIELDS = [
  "run_id",
  "thread_id",
  "assistant_id",
  "created_at",
  "updated_at",
  "status",
  "metadata",
  "kwargs",
  "multitask_strategy",
  "error",
  "usage",
  "attempt",
] as const satisfies readonly (keyof Run)[];

export const RunTaskModel = Type.Object(
  {
    kind: StringEnum(["node", "model", "tool"], {
      description: "A node that ran, or a call that it made of a model or a tool.",
    }),
    name: Type.String({ description: "Name of the node, of the model, of the tool." }),
    tool_call_id: Type.Optional(
      Type.String({ description: "Id of the call that a model asked for, where a tool was called for one." }),
    ),
    namespace: Type.String({
      description:
        "Of the task: `child:<task id>`, after that of the graph around it. A call has that of the task that made it.",
    }),
    step: Nullable(Type.Integer(), { description: "Superstep of the task in its graph." }),
    started_at: Timestamp("When it began."),
    ended_at: Nullable(Timestamp("When it ended."), { description: "When it ended; null where it did not." }),
    state: StringEnum(["running", "done", "waits", "failed"], {
      description: "How it ended: `waits` asked something or called for another graph's node.",
    }),
    usage: Nullable(TokenUsage, {
      description: "Tokens that a call of a model reported; null for the rest.",
    }),
  },
  { title: "RunTask", description: "When something inside of a run began and ended." },
);
export type RunTask = Static<typeof RunTaskModel>;

export const RunTasksModel = Type.Object(
  {
    tasks: Type.Array(RunTaskModel, { description: "In the order in which they began." }),
    omitted: Type.Integer({ description: "How many more there were, which are not kept." }),
  },
  { title: "RunTasks", description: "What ran inside of a run, and when; names and times alone." },
);
export type RunTasks = Static<typeof RunTasksModel>;

export const SelectedRun = Selected(RunModel, "SelectedRun");

const MOST_RUNS_OF_BATCH = 100;

export const RunBatch = Type.Array(RunCreateRequest, {
  minItems: 1,
  maxItems: MOST_RUNS_OF_BATCH,
  title: "RunBatch",
  description: "Runs to execute.",
});

export const RunAnswer = AnyObject({
  title: "RunAnswer",
  description: "Final visible values of a run.",
});

export const CancelManyRequest = Type.Object(
  {
    thread_id: Uuid("Thread whose runs are meant."),
    run_ids: Opt(Type.Array(Uuid("Id of a run."), { maxItems: MAX_LIMIT }), {
      description: "Only these runs.",
    }),
    status: Opt(StringEnum(["pending", "running", "all"]), { description: "Only runs of this status." }),
  },
  { title: "CancelManyRequest", description: "Which runs to cancel." },
);
export type CancelManyRequest = Static<typeof CancelManyRequest>;

export const RunSearchRequest = Type.Object(
  {
    thread_id: Opt(Uuid("Id of a thread."), { description: "Only runs of this thread." }),
    thread_ids: Opt(Type.Array(Uuid("Id of a thread."), { maxItems: MAX_LIMIT }), {
      description: "Only runs of these threads.",
    }),
    assistant_id: Opt(Type.String(), {
      description: "Only runs of this assistant: a graph id or the assistant's UUID.",
    }),
    status: Opt(StringEnum(RUN_STATUSES), { description: "Only runs of this status." }),
    metadata: Opt(AnyObject(), { description: "Only runs whose metadata contains this object." }),
    created_after: Opt(Type.String({ format: "date-time" }), {
      description: "Only runs that were accepted at this time or later.",
    }),
    created_before: Opt(Type.String({ format: "date-time" }), {
      description: "Only runs that were accepted before this time.",
    }),
    limit: Opt(Limit),
    offset: Opt(Offset),
    select: Opt(Selection(RUN_FIELDS)),
  },
  { title: "RunSearchRequest", description: "Filters, page and fields of a run search." },
);
export type RunSearchRequest = Static<typeof RunSearchRequest>;

export const RunListQuery = Type.Object({
  limit: Type.Optional(Limit),
  offset: Type.Optional(Offset),
  status: Type.Optional(RunStatusSchema),
  select: Type.Optional(Selection(RUN_FIELDS)),
});
/** Which runs of a thread are meant. */
export type RunFilter = Omit<Static<typeof RunListQuery>, "select">;
export type RunSelection = Static<typeof RunListQuery>;

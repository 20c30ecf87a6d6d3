/** What a case file holds: the one schema that types it, validates it and is published for editors. */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { AnyObject, StringEnum, type JsonObject } from "../../models/common.js";
import { RUN_STATUSES, STREAM_MODES } from "../../models/run.js";

const strict = { additionalProperties: false };
const opt = <T extends TSchema>(schema: T) => Type.Optional(schema);
const text = (description: string) => Type.String({ minLength: 1, description });
const number = (description: string) => Type.Number({ description });

const Bounds = Type.Object(
  {
    lt: opt(number("The number is less than this.")),
    gt: opt(number("The number is greater than this.")),
    min: opt(number("The number is at least this.")),
    max: opt(number("The number is at most this.")),
  },
  { ...strict, minProperties: 1 },
);
export type Bounds = Static<typeof Bounds>;

/** The verbs; all that are given must hold. */
export const VerbsSchema = Type.Object(
  {
    equals: opt(Type.Unknown({ description: "The value is this one." })),
    match: opt(text("The text fits this regular expression, such as hello or /hello/i.")),
    contains: opt(Type.Unknown({ description: "The text, list or object has this as a part." })),
    jsonSchema: opt(AnyObject({ description: "The value is valid by this JSON schema." })),
    length: opt(
      Type.Union([Type.Integer({ minimum: 0 }), Bounds], {
        description: "So many characters, items or keys; or {lt, gt, min, max}.",
      }),
    ),
    absent: opt(Type.Boolean({ description: "True: there is nothing. False: there is something." })),
    lt: Bounds.properties.lt,
    gt: Bounds.properties.gt,
  },
  { ...strict, minProperties: 1 },
);
export type Verbs = Static<typeof VerbsSchema>;
export const VERBS = Object.keys(VerbsSchema.properties);

/** An object of verbs, or the value itself, which then must be equal. */
const Matcher = (description: string) => Type.Unknown({ description });
const count = Type.Union([Type.Integer({ minimum: 0 }), Bounds]);

const Tokens = Type.Object(
  { ...Bounds.properties, input: opt(Bounds), output: opt(Bounds) },
  { ...strict, description: "Tokens that models reported in the run itself." },
);

const Stream = Type.Object(
  {
    modes: opt(Type.Array(Type.String(), { description: "Events that the stream has, by their names." })),
    order: opt(
      Type.Array(Type.String(), { description: "Events that come in this order, others between them." }),
    ),
    count: opt(
      Type.Record(Type.String(), count, { description: "How many events of a name the stream has." }),
    ),
  },
  { ...strict, minProperties: 1, description: "Events of the stream." },
);

export const ExpectationSchema = Type.Object(
  {
    status: opt(StringEnum(RUN_STATUSES, { description: "How the run ended." })),
    values: opt(
      Type.Record(Type.String(), Matcher("A value, or verbs."), {
        description: "Final values by their path, such as messages[-1].content.",
      }),
    ),
    nodes: opt(Matcher("Nodes in the order they ran; a list must be equal, or verbs.")),
    edges: opt(Matcher("Edges in the order they were taken, such as plan -> act; a list, or verbs.")),
    stream: opt(Stream),
    interrupt: opt(Matcher("The question of the first interrupt: verbs, values by path, or true or false.")),
    tokens: opt(Tokens),
    duration: opt(
      Type.Object(Bounds.properties, { ...strict, description: "Milliseconds that the run took." }),
    ),
    error: opt(Matcher("The error, as `Name: message`: the text, or verbs.")),
    private: opt(
      Type.Array(text("A key."), {
        minItems: 1,
        description: "Keys that no client may see: in no event of any mode, no state, no history.",
      }),
    ),
    snapshot: opt(
      Type.Boolean({ description: "Compare all of it with the snapshot file, without ids and times." }),
    ),
  },
  { ...strict, minProperties: 1, title: "Expectation", description: "What must be so after the run." },
);
export type Expectation = Static<typeof ExpectationSchema>;

const Checkpoint = Type.Union(
  [
    Type.Integer({ description: "Step of the checkpoint." }),
    Type.Object({ before: text("The next node after the checkpoint.") }, strict),
  ],
  { description: "Where to go back to: the step of a checkpoint, or {before: node}, the latest before it." },
);
export type CheckpointChoice = Static<typeof Checkpoint>;

const Nodes = (description: string) =>
  Type.Union([StringEnum(["*"]), Type.Array(Type.String())], { description });

const run = {
  input: opt(Type.Unknown({ description: "Input of the run." })),
  resume: opt(Type.Unknown({ description: "Answer to the open interrupt." })),
  goto: opt(text("Node to go to.")),
  update: opt(AnyObject({ description: "State update that comes with resume or goto." })),
  checkpoint: opt(Checkpoint),
  config: opt(AnyObject({ description: "Config of the run: configurable, tags, recursion_limit." })),
  context: opt(AnyObject({ description: "Context of the run." })),
  interrupt_before: opt(Nodes("Nodes to stop before.")),
  interrupt_after: opt(Nodes("Nodes to stop after.")),
  stream_mode: opt(
    Type.Array(StringEnum(STREAM_MODES), { description: "What the stream carries; most modes by default." }),
  ),
  expect: opt(ExpectationSchema),
};

export const StepSchema = Type.Object(run, {
  ...strict,
  title: "Step",
  description: "One run on the thread of the case.",
});
export type Step = Static<typeof StepSchema>;

export const CaseSchema = Type.Object(
  {
    name: text("What the case shows; its own in the file."),
    skip: opt(Type.Boolean({ description: "Leave the case out for now." })),
    timeout: opt(Type.Number({ exclusiveMinimum: 0, description: "Seconds that the case may take." })),
    steps: opt(
      Type.Array(StepSchema, { minItems: 1, description: "Runs on one thread, one after the other." }),
    ),
    ...run,
  },
  { ...strict, title: "Case", description: "A thread of its own, its runs, and what must be so." },
);
export type CaseSource = Static<typeof CaseSchema>;

export const CaseFileSchema = Type.Object(
  {
    $schema: opt(Type.String({ description: "This schema." })),
    graph: opt(text("File from here, such as ./graph.ts:graph, or key of the configuration.")),
    mock: opt(text("File of recorded model and tool answers, from here; --record makes it.")),
    config: opt(AnyObject({ description: "Config of every run." })),
    context: opt(AnyObject({ description: "Context of every run." })),
    cases: Type.Array(CaseSchema, { minItems: 1, description: "The cases." }),
  },
  {
    ...strict,
    title: "Cases of a graph",
    description: "Smoke tests that graph-serve test runs.",
  },
);
export type CaseFileSource = Static<typeof CaseFileSchema>;

/** The published schema: the one in the code, with its JSON Schema draft. */
export function publishedSchema(): JsonObject {
  const schema = JSON.parse(JSON.stringify(CaseFileSchema)) as JsonObject;
  return { $schema: "https://json-schema.org/draft/2020-12/schema", ...schema };
}

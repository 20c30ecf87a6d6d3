/** Schema of case files: source of the types, the validation and the published schema for editors. */
import type { Static, TSchema } from "@sinclair/typebox";
import { Type } from "../../support/schema-builder.js";
import { AnyObject, StringEnum, type JsonObject } from "../../models/common.js";
import { STREAM_MODES } from "../../models/run.js";
import { RUN_STATUSES } from "../../models/run-status.js";

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

/** Matchers; all given ones must match. */
export const VerbsSchema = Type.Object(
  {
    equals: opt(Type.Unknown({ description: "The value is equal to this value." })),
    match: opt(text("The string matches this regular expression, such as hello or /hello/i.")),
    contains: opt(Type.Unknown({ description: "The string, list or object contains this value." })),
    jsonSchema: opt(AnyObject({ description: "The value is valid against this JSON schema." })),
    length: opt(
      Type.Union([Type.Integer({ minimum: 0 }), Bounds], {
        description: "Number of characters, items or keys, or limits such as {min, max}.",
      }),
    ),
    absent: opt(Type.Boolean({ description: "True: the value does not exist. False: the value exists." })),
    lt: Bounds.properties.lt,
    gt: Bounds.properties.gt,
  },
  { ...strict, minProperties: 1 },
);
export type Verbs = Static<typeof VerbsSchema>;
export const VERBS = Object.keys(VerbsSchema.properties);

/** An object of matchers, or a plain value, which must be equal. */
const Matcher = (description: string) => Type.Unknown({ description });
const count = Type.Union([Type.Integer({ minimum: 0 }), Bounds]);

const Tokens = Type.Object(
  { ...Bounds.properties, input: opt(Bounds), output: opt(Bounds) },
  { ...strict, description: "Tokens that models reported in this run." },
);

const Stream = Type.Object(
  {
    modes: opt(Type.Array(Type.String(), { description: "Names of events that the stream contains." })),
    order: opt(
      Type.Array(Type.String(), {
        description: "Names of events that occur in this order, possibly with others between them.",
      }),
    ),
    count: opt(
      Type.Record(Type.String(), count, { description: "Number of events in the stream, by event name." }),
    ),
  },
  { ...strict, minProperties: 1, description: "Expected stream events." },
);

export const ExpectationSchema = Type.Object(
  {
    status: opt(StringEnum(RUN_STATUSES, { description: "Final status of the run." })),
    values: opt(
      Type.Record(Type.String(), Matcher("A value, or matchers."), {
        description: "Final values by path, such as messages[-1].content.",
      }),
    ),
    nodes: opt(Matcher("Executed nodes, in order: an exact list, or matchers.")),
    edges: opt(Matcher("Edges taken, in order, such as plan -> act: an exact list, or matchers.")),
    stream: opt(Stream),
    interrupt: opt(Matcher("Value of the first interrupt: matchers, values by path, or true or false.")),
    tokens: opt(Tokens),
    duration: opt(
      Type.Object(Bounds.properties, { ...strict, description: "Duration of the run in milliseconds." }),
    ),
    error: opt(Matcher("The error as `Name: message`: the exact text, or matchers.")),
    private: opt(
      Type.Array(text("A key."), {
        minItems: 1,
        description: "Keys that must not reach clients in any event, state or history.",
      }),
    ),
    snapshot: opt(
      Type.Boolean({
        description: "Compare the whole outcome with the snapshot file, ignoring ids and times.",
      }),
    ),
  },
  { ...strict, minProperties: 1, title: "Expectation", description: "Expectations about the run." },
);
/**
 * What must hold after a run; everything that is given must hold. `duration` is in milliseconds.
 * @example
 * ```ts
 * import type { Expectation } from "graph-serve/testing";
 *
 * const expect: Expectation = { status: "success", duration: { max: 2_000 }, tokens: { max: 500 } };
 * ```
 */
export type Expectation = Static<typeof ExpectationSchema>;

const Checkpoint = Type.Union(
  [
    Type.Integer({ description: "Step number of the checkpoint." }),
    Type.Object({ before: text("Next node of the checkpoint.") }, strict),
  ],
  {
    description:
      "Checkpoint to start from: its step, or {before: node} for the latest checkpoint before that node.",
  },
);
export type CheckpointChoice = Static<typeof Checkpoint>;

const Nodes = (description: string) =>
  Type.Union([StringEnum(["*"]), Type.Array(Type.String())], { description });

const run = {
  input: opt(Type.Unknown({ description: "Input of the run." })),
  resume: opt(Type.Unknown({ description: "Answer to the open interrupt." })),
  goto: opt(text("Node to go to.")),
  update: opt(AnyObject({ description: "State update to apply together with resume or goto." })),
  checkpoint: opt(Checkpoint),
  config: opt(AnyObject({ description: "Config of the run: configurable, tags, recursion_limit." })),
  context: opt(AnyObject({ description: "Context of the run." })),
  interrupt_before: opt(Nodes("Nodes to stop before.")),
  interrupt_after: opt(Nodes("Nodes to stop after.")),
  stream_mode: opt(
    Type.Array(StringEnum(STREAM_MODES), { description: "Stream modes; most modes by default." }),
  ),
  expect: opt(ExpectationSchema),
};

export const StepSchema = Type.Object(run, {
  ...strict,
  title: "Step",
  description: "One run on the thread of the case.",
});
/**
 * One run on the thread of a case.
 * @example
 * ```ts
 * import type { Step } from "graph-serve/testing";
 *
 * const step: Step = { resume: true, expect: { status: "success", nodes: ["approve", "pay"] } };
 * ```
 */
export type Step = Static<typeof StepSchema>;

export const CaseSchema = Type.Object(
  {
    name: text("Name of the case; unique in the file."),
    skip: opt(Type.Boolean({ description: "Skip the case." })),
    deterministic: opt(
      Type.Boolean({
        description: "Nodes get the same times, random numbers and UUIDs in every execution of the case.",
      }),
    ),
    timeout: opt(Type.Number({ exclusiveMinimum: 0, description: "Time limit of the case in seconds." })),
    steps: opt(Type.Array(StepSchema, { minItems: 1, description: "Consecutive runs on the thread." })),
    ...run,
  },
  { ...strict, title: "Case", description: "A new thread with one or more runs and their expectations." },
);
/**
 * A case: one run, or steps on one thread. `timeout` is in seconds.
 * @example
 * ```ts
 * import type { CaseSource } from "graph-serve/testing";
 *
 * const greets: CaseSource = {
 *   name: "greets by name",
 *   timeout: 5,
 *   input: { name: "Ada" },
 *   expect: { values: { greeting: "Hello Ada" } },
 * };
 * ```
 */
export type CaseSource = Static<typeof CaseSchema>;

export const CaseFileSchema = Type.Object(
  {
    $schema: opt(Type.String({ description: "This schema." })),
    graph: opt(
      text("Graph file, such as ./graph.ts:graph, relative to this file, or a key of the configuration."),
    ),
    mock: opt(text("File of recorded model and tool responses, relative to this file; --record creates it.")),
    config: opt(AnyObject({ description: "Config of every run." })),
    context: opt(AnyObject({ description: "Context of every run." })),
    cases: Type.Array(CaseSchema, { minItems: 1, description: "The cases." }),
  },
  {
    ...strict,
    title: "Cases of a graph",
    description: "Smoke tests for graph-serve test.",
  },
);
/**
 * A case file: a graph and its cases. JSON is valid YAML, so a file can be generated.
 * @example
 * ```ts
 * import { mkdtemp, rm, writeFile } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { runCases, type CaseFileSource } from "graph-serve/testing";
 *
 * const file: CaseFileSource = {
 *   graph: join(import.meta.dirname, "graph.ts:graph"),
 *   cases: [{ name: "greets by name", input: { name: "Ada" }, expect: { values: { greeting: "Hello Ada" } } }],
 * };
 * const cwd = await mkdtemp(join(tmpdir(), "cases-"));
 * await writeFile(join(cwd, "greeting.graph.yaml"), JSON.stringify(file));
 * const { cases } = await runCases({ cwd });
 * await rm(cwd, { recursive: true });
 * cases.map(({ status }) => status); // => ["passed"]
 * ```
 */
export type CaseFileSource = Static<typeof CaseFileSchema>;

/**
 * The JSON schema of case files, as published in `case-file.schema.json`.
 * @returns a new object, with its JSON Schema draft
 * @example
 * ```ts
 * import { publishedSchema } from "graph-serve/testing";
 *
 * publishedSchema().title; // => "Cases of a graph"
 * ```
 */
export function publishedSchema(): JsonObject {
  const schema = JSON.parse(JSON.stringify(CaseFileSchema)) as JsonObject;
  return { $schema: "https://json-schema.org/draft/2020-12/schema", ...schema };
}

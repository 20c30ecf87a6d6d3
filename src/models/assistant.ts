import type { Static } from "@sinclair/typebox";
import { Type } from "../support/schema-builder.js";
import {
  AnyObject,
  fieldsOf,
  Limit,
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

export const AssistantModel = Type.Object(
  {
    assistant_id: Uuid(
      "Deterministic id: the version 5 UUID of the assistant namespace and the graph id; a client may choose the id of an assistant that it creates.",
    ),
    graph_id: Type.String({ description: "Key of the graph in the graphs mapping." }),
    name: Type.String({ description: "The setting assistant_name, or the graph id." }),
    description: Nullable(Type.String(), { description: "The setting assistant_description." }),
    config: AnyObject({ description: "Default run config of the assistant." }),
    context: AnyObject({ description: "Default run context of the assistant." }),
    metadata: AnyObject({ description: "Metadata of the assistant." }),
    version: Type.Integer({ description: "Version of the assistant." }),
    created_at: Timestamp(
      "When it was created; for an assistant of the configuration, when this server started.",
    ),
    updated_at: Timestamp(
      "When it was last changed; for an assistant of the configuration, when its graph was last loaded.",
    ),
  },
  { title: "AssistantModel", description: "A named entry point to a graph." },
);
/**
 * A named entry point to a graph. Times are ISO 8601.
 * @example
 * ```ts
 * import type { Assistant } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const assistant: Assistant = await service.assistants.get("agent");
 * assistant.graph_id; // => "agent"
 * ```
 */
export type Assistant = Static<typeof AssistantModel>;

const { updated_at: _, ...versionFields } = AssistantModel.properties;

export const AssistantVersionModel = Type.Object(versionFields, {
  title: "AssistantVersionModel",
  description: "One version of an assistant; created_at is when it was stored.",
});
export type AssistantVersion = Static<typeof AssistantVersionModel>;

const content = {
  config: Opt(AnyObject(), { description: "Default config of runs; the config of a run takes precedence." }),
  context: Opt(AnyObject(), {
    description: "Default context of runs; the context of a run takes precedence.",
  }),
  name: Opt(Type.String({ minLength: 1, maxLength: 1000 }), { description: "Name of the assistant." }),
  description: Opt(Type.String(), { description: "Description of the assistant." }),
};

export const AssistantCreateRequest = Type.Object(
  {
    graph_id: Type.String({ description: "Key of the graph in the graphs mapping." }),
    assistant_id: Opt(Type.String(), { description: "UUID of the assistant. Default: a new one." }),
    ...content,
    metadata: Opt(AnyObject(), { description: "Metadata of the assistant and of its runs." }),
    if_exists: Opt(StringEnum(["raise", "do_nothing"]), {
      description: "If the id exists: respond with 409 (raise), or with the existing assistant (do_nothing).",
    }),
  },
  { title: "AssistantCreateRequest", description: "An assistant to create." },
);
export type AssistantCreateRequest = Static<typeof AssistantCreateRequest>;

export const AssistantPatchRequest = Type.Object(
  {
    graph_id: Opt(Type.String(), { description: "Key of another graph." }),
    ...content,
    metadata: Opt(AnyObject(), { description: "Merged into the metadata." }),
  },
  { title: "AssistantPatchRequest", description: "Changes to an assistant, stored as its next version." },
);
export type AssistantPatchRequest = Static<typeof AssistantPatchRequest>;

export const AssistantVersionsRequest = Type.Object(
  {
    metadata: Opt(AnyObject(), { description: "Only versions whose metadata contains this object." }),
    limit: Opt(Limit),
    offset: Opt(Offset),
  },
  { title: "AssistantVersionsRequest", description: "Filter and page of the versions of an assistant." },
);
export type AssistantVersionsRequest = Static<typeof AssistantVersionsRequest>;

export const AssistantLatestRequest = Type.Object(
  { version: Type.Integer({ minimum: 1, description: "Number of the version." }) },
  { title: "AssistantLatestRequest", description: "The version that runs use from now on." },
);

export const SelectedAssistant = Selected(AssistantModel, "SelectedAssistant");

const schema = (what: string) =>
  Nullable(AnyObject(), {
    description: `JSON schema of the graph's ${what}; null if the graph declares none.`,
  });

/**
 * Key in a schema whose type JSON schema cannot express and which therefore accepts any value. Its
 * value is the declaration, such as `z.date()`, or the reason why the type is unknown.
 */
export const UNKNOWN = "x-unknown";

const CHANNEL_KINDS = [
  "last_value",
  "reducer",
  "messages",
  "topic",
  "ephemeral",
  "untracked",
  "unknown",
] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

const StateChannel = Type.Object({
  kind: StringEnum(CHANNEL_KINDS, {
    description:
      "Effect of a write: last_value replaces; reducer combines; messages appends, or replaces and removes by id; topic appends; ephemeral is kept for one superstep; untracked is not stored.",
  }),
  visible: Type.Boolean({ description: "Whether clients see the key." }),
});
export type StateChannel = Static<typeof StateChannel>;

export const GraphSchemaModel = Type.Object(
  {
    graph_id: Type.String({ description: "Key of the graph in the graphs mapping." }),
    input_schema: schema("input"),
    output_schema: schema("output"),
    state_schema: schema("state"),
    config_schema: schema("configurable values"),
    context_schema: schema("context"),
    channels: Type.Optional(
      Nullable(Type.Record(Type.String(), StateChannel), {
        description: "How writes change each state key; null if the keys are unknown.",
      }),
    ),
  },
  {
    title: "GraphSchemaModel",
    description:
      "JSON schemas derived from the compiled graph; x-unknown marks types that JSON schema cannot express.",
  },
);
/**
 * JSON schemas of a graph's input, output, state and context; null for one that it does not declare.
 * @example
 * ```ts
 * import type { GraphSchema } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const schemas: GraphSchema = await service.assistants.schemas("agent");
 * schemas.graph_id; // => "agent"
 * schemas.context_schema; // => null
 * ```
 */
export type GraphSchema = Static<typeof GraphSchemaModel>;

export const GraphDrawing = Type.Object(
  {
    nodes: Type.Array(AnyObject(), { description: "Nodes: id, type and data." }),
    edges: Type.Array(AnyObject(), { description: "Edges: source, target and whether conditional." }),
  },
  { title: "GraphDrawing", description: "Nodes and edges of a graph." },
);
/**
 * Nodes and edges of a graph.
 * @example
 * ```ts
 * import type { GraphDrawing } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const drawing: GraphDrawing = await service.assistants.draw("agent", { xray: false });
 * drawing.nodes.some(({ id }) => id === "greet"); // => true
 * ```
 */
export type GraphDrawing = Static<typeof GraphDrawing>;

export const SubgraphSchemas = Type.Record(Type.String(), GraphSchemaModel, {
  title: "SubgraphSchemas",
  description: "Schemas of the graph's subgraphs by namespace.",
});
export type SubgraphSchemas = Static<typeof SubgraphSchemas>;

export const ASSISTANT_FIELDS = fieldsOf(AssistantModel);

const assistantFilter = {
  graph_id: Opt(Type.String(), { description: "Only assistants of this graph." }),
  name: Opt(Type.String(), { description: "Only assistants whose name contains this text, ignoring case." }),
  metadata: Opt(AnyObject(), { description: "Only assistants whose metadata contains this object." }),
};

export const AssistantSearchRequest = Type.Object(
  {
    ...assistantFilter,
    limit: Opt(Limit),
    offset: Opt(Offset),
    sort_by: Opt(StringEnum(["assistant_id", "graph_id", "name", "created_at", "updated_at"]), {
      description: "Field to sort by.",
    }),
    sort_order: Opt(SortOrder),
    select: Opt(Selection(ASSISTANT_FIELDS)),
  },
  { title: "AssistantSearchRequest", description: "Filters, order and page of an assistant search." },
);
export type AssistantSearchRequest = Static<typeof AssistantSearchRequest>;

export const AssistantCountRequest = Type.Object(assistantFilter, {
  title: "AssistantCountRequest",
  description: "Filters of an assistant count.",
});
export type AssistantCountRequest = Static<typeof AssistantCountRequest>;

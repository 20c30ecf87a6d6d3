import { Type } from "../../support/schema-builder.js";
import {
  AssistantCountRequest,
  AssistantCreateRequest,
  AssistantLatestRequest,
  AssistantModel,
  AssistantPatchRequest,
  AssistantSearchRequest,
  AssistantVersionModel,
  AssistantVersionsRequest,
  GraphDrawing,
  GraphSchemaModel,
  SelectedAssistant,
  SubgraphSchemas,
} from "../../models/assistant.js";
import { route } from "../core/route.js";
import { Count, empty, json, jsonPage, PAGE_HEADERS } from "../core/reply.js";

const DrawQuery = Type.Object({
  xray: Type.Optional(
    Type.Union([Type.Boolean(), Type.Integer({ minimum: 0 })], {
      description: "Include subgraphs: a boolean, or the number of levels.",
      default: false,
    }),
  ),
  namespace: Type.Optional(
    Type.String({ minLength: 1, description: "Return only this subgraph, such as `child|leaf`." }),
  ),
});
const SubgraphsQuery = Type.Object({
  recurse: Type.Optional(
    Type.Boolean({ description: "Also return subgraphs of subgraphs.", default: false }),
  ),
});

const DeleteQuery = Type.Object({
  delete_threads: Type.Optional(
    Type.Boolean({ description: "Also delete threads whose last run used the assistant.", default: false }),
  ),
});

const changeErrors = ["assistant_not_found", "unsupported_option"] as const;

/** Served if the setting assistants is managed. */
export const managedRoutes = [
  route({
    id: "create_assistant",
    method: "post",
    path: "/assistants",
    tag: "Assistants",
    summary: "Create an assistant",
    body: AssistantCreateRequest,
    responses: [{ status: 200, description: "The assistant.", schema: AssistantModel }],
    errors: ["assistant_exists", ...changeErrors],
    handle: async ({ service, body }) => json(await service.managedAssistants.create(body)),
  }),
  route({
    id: "update_assistant",
    method: "patch",
    path: "/assistants/{assistant_id}",
    tag: "Assistants",
    summary: "Change an assistant: store its next version",
    body: AssistantPatchRequest,
    responses: [{ status: 200, description: "The assistant.", schema: AssistantModel }],
    errors: changeErrors,
    handle: async ({ service, params, body }) =>
      json(await service.managedAssistants.update(params.assistant_id, body)),
  }),
  route({
    id: "delete_assistant",
    method: "delete",
    path: "/assistants/{assistant_id}",
    tag: "Assistants",
    summary: "Delete an assistant",
    query: DeleteQuery,
    responses: [{ status: 204, description: "Deleted." }],
    errors: [...changeErrors, "thread_busy"],
    handle: async ({ service, params, query }) => {
      await service.managedAssistants.delete(params.assistant_id, query);
      return empty;
    },
  }),
  route({
    id: "list_assistant_versions",
    method: "post",
    path: "/assistants/{assistant_id}/versions",
    tag: "Assistants",
    summary: "List the versions of an assistant, newest first",
    body: AssistantVersionsRequest,
    responses: [
      { status: 200, description: "One page of versions.", schema: Type.Array(AssistantVersionModel) },
    ],
    errors: ["assistant_not_found"],
    handle: async ({ service, params, body }) =>
      json(await service.managedAssistants.versions(params.assistant_id, body)),
  }),
  route({
    id: "set_latest_assistant",
    method: "post",
    path: "/assistants/{assistant_id}/latest",
    tag: "Assistants",
    summary: "Choose the version that runs use",
    body: AssistantLatestRequest,
    responses: [{ status: 200, description: "The assistant.", schema: AssistantModel }],
    errors: changeErrors,
    handle: async ({ service, params, body }) =>
      json(await service.managedAssistants.setLatest(params.assistant_id, body.version)),
  }),
];

export const assistantRoutes = [
  route({
    id: "search_assistants",
    method: "post",
    path: "/assistants/search",
    tag: "Assistants",
    summary: "Search assistants",
    body: AssistantSearchRequest,
    responses: [
      {
        status: 200,
        description: "One page of matching assistants, with the fields in `select` if given.",
        schema: Type.Array(SelectedAssistant),
        headers: PAGE_HEADERS,
      },
    ],
    errors: [],
    handle: async ({ service, body }) => jsonPage(await service.assistants.search(body)),
  }),
  route({
    id: "count_assistants",
    method: "post",
    path: "/assistants/count",
    tag: "Assistants",
    summary: "Count assistants",
    body: AssistantCountRequest,
    responses: [{ status: 200, description: "Number of matching assistants.", schema: Count }],
    errors: [],
    handle: async ({ service, body }) => json(await service.assistants.count(body)),
  }),
  route({
    id: "get_assistant",
    method: "get",
    path: "/assistants/{assistant_id}",
    tag: "Assistants",
    summary: "Get an assistant",
    responses: [{ status: 200, description: "The assistant.", schema: AssistantModel }],
    errors: ["assistant_not_found"],
    handle: async ({ service, params }) => json(await service.assistants.get(params.assistant_id)),
  }),
  route({
    id: "get_assistant_schemas",
    method: "get",
    path: "/assistants/{assistant_id}/schemas",
    tag: "Assistants",
    summary: "Get the JSON schemas of an assistant's graph",
    responses: [{ status: 200, description: "The graph's schemas.", schema: GraphSchemaModel }],
    errors: ["assistant_not_found", "graph_not_loaded"],
    handle: async ({ service, params }) => json(await service.assistants.schemas(params.assistant_id)),
  }),
  route({
    id: "get_assistant_graph",
    method: "get",
    path: "/assistants/{assistant_id}/graph",
    tag: "Assistants",
    summary: "Get the nodes and edges of an assistant's graph",
    query: DrawQuery,
    responses: [{ status: 200, description: "Nodes and edges of the graph.", schema: GraphDrawing }],
    errors: ["assistant_not_found", "graph_not_loaded"],
    handle: async ({ service, params, query }) =>
      json(await service.assistants.draw(params.assistant_id, { ...query, xray: query.xray ?? false })),
  }),
  route({
    id: "get_assistant_subgraphs",
    method: "get",
    path: "/assistants/{assistant_id}/subgraphs",
    tag: "Assistants",
    summary: "Get the schemas of an assistant's subgraphs",
    query: SubgraphsQuery,
    responses: [{ status: 200, description: "Schemas by subgraph namespace.", schema: SubgraphSchemas }],
    errors: ["assistant_not_found", "graph_not_loaded"],
    handle: async ({ service, params, query }) =>
      json(await service.assistants.subgraphs(params.assistant_id, { recurse: query.recurse ?? false })),
  }),
  route({
    id: "get_assistant_subgraph",
    method: "get",
    path: "/assistants/{assistant_id}/subgraphs/{namespace}",
    tag: "Assistants",
    summary: "Get the schemas of one subgraph",
    description: "Without `recurse`, only direct subgraphs of the graph are found.",
    query: SubgraphsQuery,
    responses: [
      {
        status: 200,
        description: "The schemas by namespace; empty if the subgraph does not exist.",
        schema: SubgraphSchemas,
      },
    ],
    errors: ["assistant_not_found", "graph_not_loaded"],
    handle: async ({ service, params: { assistant_id, namespace }, query }) =>
      json(await service.assistants.subgraphs(assistant_id, { recurse: query.recurse ?? false, namespace })),
  }),
];

import { Type } from "../../support/schema-builder.js";
import { Limit } from "../../models/common.js";
import {
  SelectedState,
  StateAtCheckpointRequest,
  StateSelection,
  StateWriteResponse,
  ThreadStateModel,
  ThreadStateSearchRequest,
  ThreadStateUpdateRequest,
} from "../../models/state.js";
import { route } from "../core/route.js";
import { json, list } from "../core/reply.js";

const StateQuery = Type.Object({
  subgraphs: Type.Optional(
    Type.Boolean({ description: "Also return the states of subgraphs.", default: false }),
  ),
});
const HistoryQuery = Type.Object({
  limit: Type.Optional(Limit),
  before: Type.Optional(Type.String({ description: "Only states before the checkpoint with this id." })),
  select: Type.Optional(StateSelection),
});

export const stateRoutes = [
  route({
    id: "get_state",
    method: "get",
    path: "/threads/{thread_id}/state",
    tag: "Thread state",
    summary: "Get the latest state",
    query: StateQuery,
    responses: [
      { status: 200, description: "The state at the latest checkpoint.", schema: ThreadStateModel },
    ],
    errors: ["thread_not_found"],
    handle: async ({ service, params, query }) =>
      json(await service.state.get(params.thread_id, { subgraphs: query.subgraphs ?? false })),
  }),
  route({
    id: "update_state",
    method: "post",
    path: "/threads/{thread_id}/state",
    tag: "Thread state",
    summary: "Edit the state",
    description: "Writes `values` as a new checkpoint, for example as a human-in-the-loop edit.",
    body: ThreadStateUpdateRequest,
    responses: [{ status: 200, description: "The new checkpoint.", schema: StateWriteResponse }],
    errors: ["thread_not_found", "checkpoint_not_found", "thread_busy", "graph_not_loaded"],
    handle: async ({ service, params, body }) => json(await service.state.update(params.thread_id, body)),
  }),
  route({
    id: "get_state_at_selector",
    method: "post",
    path: "/threads/{thread_id}/state/checkpoint",
    tag: "Thread state",
    summary: "Get the state at a checkpoint with a full selector",
    body: StateAtCheckpointRequest,
    responses: [{ status: 200, description: "The state at that checkpoint.", schema: ThreadStateModel }],
    errors: ["thread_not_found", "checkpoint_not_found"],
    handle: async ({ service, params, body }) => {
      const { checkpoint, subgraphs, ...flat } = body;
      return json(
        await service.state.get(params.thread_id, {
          checkpoint: checkpoint ?? flat,
          subgraphs: subgraphs ?? false,
        }),
      );
    },
  }),
  route({
    id: "get_state_at_checkpoint",
    method: "get",
    path: "/threads/{thread_id}/state/{checkpoint_id}",
    tag: "Thread state",
    summary: "Get the state at a checkpoint",
    query: StateQuery,
    responses: [{ status: 200, description: "The state at that checkpoint.", schema: ThreadStateModel }],
    errors: ["thread_not_found", "checkpoint_not_found"],
    handle: async ({ service, params, query }) =>
      json(
        await service.state.get(params.thread_id, {
          checkpoint: { checkpoint_id: params.checkpoint_id },
          subgraphs: query.subgraphs ?? false,
        }),
      ),
  }),
  route({
    id: "get_history",
    method: "get",
    path: "/threads/{thread_id}/history",
    tag: "Thread state",
    summary: "List past states",
    query: HistoryQuery,
    responses: [{ status: 200, description: "States, newest first.", schema: Type.Array(SelectedState) }],
    errors: ["thread_not_found"],
    handle: ({ service, params, query }) => list(service.state.walkSelected(params.thread_id, query)),
  }),
  route({
    id: "search_history",
    method: "post",
    path: "/threads/{thread_id}/history",
    tag: "Thread state",
    summary: "Search past states",
    body: ThreadStateSearchRequest,
    responses: [{ status: 200, description: "States, newest first.", schema: Type.Array(SelectedState) }],
    errors: ["thread_not_found"],
    handle: ({ service, params, body }) => list(service.state.walkSelected(params.thread_id, body)),
  }),
];

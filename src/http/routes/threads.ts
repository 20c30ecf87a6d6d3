import { Type } from "../../support/schema-builder.js";
import {
  SelectedThread,
  ThreadCopyQuery,
  ThreadCountRequest,
  ThreadCreateRequest,
  ThreadModel,
  ThreadPatchRequest,
  ThreadPruneRequest,
  ThreadPruneResponse,
  ThreadSearchRequest,
} from "../../models/thread.js";
import { ThreadVersionModel } from "../../models/version.js";
import { route } from "../core/route.js";
import { Count, empty, json, lazyPage, PAGE_HEADERS } from "../core/reply.js";

/** `Prefer: return=minimal`, sent by SDK clients that do not need the thread in the response. */
const wantsNoBody = (prefer: string | string[] | undefined) =>
  /(^|[\s,;])return=minimal($|[\s,;])/i.test(String(prefer));

export const threadRoutes = [
  route({
    id: "create_thread",
    method: "post",
    path: "/threads",
    tag: "Threads",
    summary: "Create a thread",
    description:
      "With `if_exists: do_nothing`, an existing thread is returned unchanged; `metadata`, `ttl` and `supersteps` are ignored.",
    body: ThreadCreateRequest,
    responses: [{ status: 200, description: "The thread.", schema: ThreadModel }],
    errors: ["thread_exists", "thread_busy", "graph_not_loaded"],
    handle: async ({ service, body }) => json(await service.threads.create(body)),
  }),
  route({
    id: "search_threads",
    method: "post",
    path: "/threads/search",
    tag: "Threads",
    summary: "Search threads",
    body: ThreadSearchRequest,
    responses: [
      {
        status: 200,
        description: "One page of matching threads, with the fields in `select` if given.",
        schema: Type.Array(SelectedThread),
        headers: PAGE_HEADERS,
      },
    ],
    errors: [],
    handle: async ({ service, body }) => lazyPage(await service.threads.find(body)),
  }),
  route({
    id: "count_threads",
    method: "post",
    path: "/threads/count",
    tag: "Threads",
    summary: "Count threads",
    body: ThreadCountRequest,
    responses: [{ status: 200, description: "Number of matching threads.", schema: Count }],
    errors: [],
    handle: async ({ service, body }) => json(await service.threads.count(body)),
  }),
  route({
    id: "prune_threads",
    method: "post",
    path: "/threads/prune",
    tag: "Threads",
    summary: "Delete threads, or delete their history",
    description:
      "`delete` interrupts active runs first; `keep_latest` skips threads with an active run, or with a queued or delayed run that starts from a checkpoint.",
    body: ThreadPruneRequest,
    responses: [{ status: 200, description: "Number of pruned threads.", schema: ThreadPruneResponse }],
    errors: [],
    handle: async ({ service, body }) => json(await service.threads.prune(body)),
  }),
  route({
    id: "get_thread",
    method: "get",
    path: "/threads/{thread_id}",
    tag: "Threads",
    summary: "Get a thread",
    responses: [{ status: 200, description: "The thread with its latest values.", schema: ThreadModel }],
    errors: ["thread_not_found"],
    handle: async ({ service, params }) => json(await service.threads.get(params.thread_id)),
  }),
  route({
    id: "get_thread_version",
    method: "get",
    path: "/threads/{thread_id}/version",
    tag: "Threads",
    summary: "Check whether a thread can continue on the served graph",
    description: "Compares the thread with the graph that is served now, after migrations. Changes nothing.",
    responses: [
      { status: 200, description: "The versions, and what has changed.", schema: ThreadVersionModel },
    ],
    errors: ["thread_not_found"],
    handle: async ({ service, params }) => json(await service.versions.checkOne(params.thread_id)),
  }),
  route({
    id: "update_thread",
    method: "patch",
    path: "/threads/{thread_id}",
    tag: "Threads",
    summary: "Update a thread's metadata",
    body: ThreadPatchRequest,
    requestHeaders: Type.Object({
      Prefer: Type.Optional(
        Type.String({ description: "`return=minimal` requests a response without a body." }),
      ),
    }),
    responses: [
      { status: 200, description: "The updated thread.", schema: ThreadModel },
      { status: 204, description: "The thread is updated, and `Prefer: return=minimal` was sent." },
    ],
    errors: ["thread_not_found"],
    handle: async ({ service, params, body, headers }) => {
      const thread = await service.threads.update(params.thread_id, body);
      return wantsNoBody(headers.prefer) ? empty : json(thread);
    },
  }),
  route({
    id: "delete_thread",
    method: "delete",
    path: "/threads/{thread_id}",
    tag: "Threads",
    summary: "Delete a thread",
    description: "Deletes the thread, its runs and its checkpoints. An active run is interrupted first.",
    responses: [{ status: 204, description: "The thread is deleted." }],
    errors: ["thread_not_found"],
    handle: async ({ service, params }) => {
      await service.threads.delete(params.thread_id);
      return empty;
    },
  }),
  route({
    id: "copy_thread",
    method: "post",
    path: "/threads/{thread_id}/copy",
    tag: "Threads",
    summary: "Fork a thread",
    description:
      "The new thread gets the source's latest state, or that of `checkpoint_id`, and its metadata with `forked_from` added.",
    query: ThreadCopyQuery,
    responses: [{ status: 200, description: "The new thread.", schema: ThreadModel }],
    errors: ["thread_not_found", "checkpoint_not_found", "thread_busy"],
    handle: async ({ service, params, query }) => json(await service.threads.copy(params.thread_id, query)),
  }),
];

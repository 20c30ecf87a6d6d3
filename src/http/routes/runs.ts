import { Type } from "../../support/schema-builder.js";
import {
  RunCreateRequest,
  RunListQuery,
  RunModel,
  RunSearchRequest,
  RunTasksModel,
  SelectedRun,
} from "../../models/run.js";
import { route } from "../core/route.js";
import { json, jsonPage, list, PAGE_HEADERS } from "../core/reply.js";
import { ContentLocation, createErrors, IdempotencyKey, pathOf, streamHeaders } from "./run-parts.js";
import { STREAM_RESPONSE } from "./streams.js";

/** `Prefer: respond-async`: accept the run and respond immediately. */
const wantsAsync = (prefer: string | string[] | undefined) =>
  /(^|[\s,;])respond-async($|[\s,;])/i.test(String(prefer));

export const runRoutes = [
  route({
    id: "create_run",
    method: "post",
    path: "/threads/{thread_id}/runs",
    tag: "Runs",
    summary: "Run to completion",
    description:
      "Responds after the run has ended; a failed run returns 200 with `status: error`. With `Prefer: respond-async`, or the setting run_create_mode background, it responds immediately with `status: pending`.",
    body: RunCreateRequest,
    requestHeaders: Type.Object({
      Prefer: Type.Optional(
        Type.String({ description: "`respond-async` responds before the run has ended." }),
      ),
      "Idempotency-Key": IdempotencyKey,
    }),
    responses: [
      {
        status: 200,
        description: "The run after its end.",
        schema: RunModel,
        headers: {
          Location: Type.String({ description: "Path of the run." }),
          "Content-Location": ContentLocation,
          "X-Tokens-Used": Type.Integer({ description: "Total tokens used by the run." }),
          "X-Cost-Used": Type.Number({
            description: "Cost of the run in US dollars; missing if a price is unknown.",
          }),
        },
      },
    ],
    errors: createErrors,
    handle: async ({ service, params, body, headers, disconnected }) => {
      if (wantsAsync(headers.prefer) || service.settings.run_create_mode === "background") {
        const pending = await service.runs.background(params.thread_id, body);
        return json(pending, { Location: pathOf(pending), "Content-Location": pathOf(pending) });
      }
      const run = await service.runs.create(params.thread_id, body, { signal: disconnected() });
      return json(run, {
        Location: pathOf(run),
        "Content-Location": pathOf(run),
        "X-Tokens-Used": String(run.usage?.total_tokens ?? 0),
        ...(run.usage?.cost_usd !== undefined && { "X-Cost-Used": String(run.usage.cost_usd) }),
      });
    },
  }),
  route({
    id: "stream_run",
    method: "post",
    path: "/threads/{thread_id}/runs/stream",
    tag: "Runs",
    summary: "Run and stream events",
    description:
      "The run is interrupted if its client disconnects, unless the request sets `on_disconnect: continue`.",
    body: RunCreateRequest,
    requestHeaders: Type.Object({ "Idempotency-Key": IdempotencyKey }),
    responses: [STREAM_RESPONSE],
    errors: createErrors,
    handle: async ({ service, params, body, disconnected }) => {
      const stream = await service.runs.stream(params.thread_id, body, { signal: disconnected() });
      return { kind: "stream", stream, headers: streamHeaders(stream) };
    },
  }),
  route({
    id: "search_runs",
    method: "post",
    path: "/runs/search",
    tag: "Runs",
    summary: "Search runs of all threads",
    description: "The total is not counted. `X-Pagination-Next` is set if there are more.",
    body: RunSearchRequest,
    responses: [
      {
        status: 200,
        description: "One page of runs, newest first by default, with the fields in `select` if given.",
        schema: Type.Array(SelectedRun),
        headers: { "X-Pagination-Next": PAGE_HEADERS["X-Pagination-Next"] },
      },
    ],
    errors: [],
    handle: async ({ service, body }) => jsonPage(await service.runs.search(body)),
  }),
  route({
    id: "list_runs",
    method: "get",
    path: "/threads/{thread_id}/runs",
    tag: "Runs",
    summary: "List a thread's runs",
    query: RunListQuery,
    responses: [
      {
        status: 200,
        description: "Runs, newest first, with the fields in `select` if given.",
        schema: Type.Array(SelectedRun),
      },
    ],
    errors: ["thread_not_found"],
    handle: ({ service, params, query }) => list(service.runs.walk(params.thread_id, query)),
  }),
  route({
    id: "get_run",
    method: "get",
    path: "/threads/{thread_id}/runs/{run_id}",
    tag: "Runs",
    summary: "Get a run",
    responses: [{ status: 200, description: "The run.", schema: RunModel }],
    errors: ["thread_not_found", "run_not_found"],
    handle: async ({ service, params }) => json(await service.runs.get(params.thread_id, params.run_id)),
  }),
  route({
    id: "get_run_tasks",
    method: "get",
    path: "/threads/{thread_id}/runs/{run_id}/tasks",
    tag: "Runs",
    summary: "Get the steps of a run with their times",
    description:
      "Nodes, including those of subgraphs, and their calls of models and tools: names and times, no values. Stored with the run when it ends; until then, only the executing process has them.",
    responses: [{ status: 200, description: "The steps of the run.", schema: RunTasksModel }],
    errors: ["run_not_found"],
    handle: async ({ service, params }) => json(await service.runs.tasks(params.thread_id, params.run_id)),
  }),
];

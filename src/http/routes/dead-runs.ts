import { Type } from "../../support/schema-builder.js";
import { DeadRunListQuery, DeadRunModel } from "../../models/dead-run.js";
import { RunModel } from "../../models/run.js";
import { route } from "../core/route.js";
import { json, jsonPage, PAGE_HEADERS } from "../core/reply.js";
import { ContentLocation, pathOf } from "./run-parts.js";

export const deadRunRoutes = [
  route({
    id: "list_dead_runs",
    method: "get",
    path: "/runs/dead",
    tag: "Runs",
    summary: "List runs that died with their processes",
    description:
      "Runs with status `error` that can be requeued: their processes crashed max_attempts times, or their graph failed to load on resume. They are kept for 30 days, unless they or their threads are deleted.",
    query: DeadRunListQuery,
    responses: [
      {
        status: 200,
        description: "One page of dead runs, newest first.",
        schema: Type.Array(DeadRunModel),
        headers: { "X-Pagination-Next": PAGE_HEADERS["X-Pagination-Next"] },
      },
    ],
    errors: [],
    handle: async ({ service, query }) => jsonPage(await service.deadRuns.list(query)),
  }),
  route({
    id: "redrive_run",
    method: "post",
    path: "/threads/{thread_id}/runs/{run_id}/redrive",
    tag: "Runs",
    summary: "Requeue a dead run",
    description:
      "Resumes the same run from its last checkpoint as another attempt, without sending its input again. Rejected if the thread has been changed since.",
    responses: [
      {
        status: 200,
        description: "The requeued run.",
        schema: RunModel,
        headers: { "Content-Location": ContentLocation },
      },
    ],
    errors: [
      "run_not_found",
      "run_not_redrivable",
      "graph_changed",
      "thread_busy",
      "too_many_runs",
      "unsupported_option",
    ],
    handle: async ({ service, params }) => {
      const run = await service.deadRuns.redrive(params.thread_id, params.run_id);
      return json(run, { "Content-Location": pathOf(run) });
    },
  }),
];

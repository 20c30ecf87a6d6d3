import { Type } from "../../support/schema-builder.js";
import {
  CronCountRequest,
  CronCreateRequest,
  CronModel,
  CronPatchRequest,
  CronSearchRequest,
  SelectedCron,
} from "../../models/cron.js";
import { route } from "../core/route.js";
import { Count, empty, json, jsonPage, PAGE_HEADERS } from "../core/reply.js";

const createErrors = ["assistant_not_found", "unsupported_option", "graph_not_loaded"] as const;

/** Served if the setting crons is on. */
export const cronRoutes = [
  route({
    id: "create_cron",
    method: "post",
    path: "/runs/crons",
    tag: "Crons",
    summary: "Create a cron that runs on a new thread each time",
    body: CronCreateRequest,
    responses: [{ status: 200, description: "The cron.", schema: CronModel }],
    errors: createErrors,
    handle: async ({ service, body }) => json(await service.crons.create(body)),
  }),
  route({
    id: "create_thread_cron",
    method: "post",
    path: "/threads/{thread_id}/runs/crons",
    tag: "Crons",
    summary: "Create a cron that runs on a thread",
    description: "The cron is deleted with its thread. `on_run_completed` is ignored.",
    body: CronCreateRequest,
    responses: [{ status: 200, description: "The cron.", schema: CronModel }],
    errors: ["thread_not_found", ...createErrors],
    handle: async ({ service, params, body }) => json(await service.crons.create(body, params.thread_id)),
  }),
  route({
    id: "search_crons",
    method: "post",
    path: "/runs/crons/search",
    tag: "Crons",
    summary: "Search crons",
    body: CronSearchRequest,
    responses: [
      {
        status: 200,
        description:
          "One page of matching crons, newest first by default, with the fields in `select` if given.",
        schema: Type.Array(SelectedCron),
        headers: PAGE_HEADERS,
      },
    ],
    errors: [],
    handle: async ({ service, body }) => jsonPage(await service.crons.search(body)),
  }),
  route({
    id: "count_crons",
    method: "post",
    path: "/runs/crons/count",
    tag: "Crons",
    summary: "Count crons",
    body: CronCountRequest,
    responses: [{ status: 200, description: "Number of matching crons.", schema: Count }],
    errors: [],
    handle: async ({ service, body }) => json(await service.crons.count(body)),
  }),
  route({
    id: "update_cron",
    method: "patch",
    path: "/runs/crons/{cron_id}",
    tag: "Crons",
    summary: "Update a cron",
    body: CronPatchRequest,
    responses: [{ status: 200, description: "The updated cron.", schema: CronModel }],
    errors: ["cron_not_found", ...createErrors],
    handle: async ({ service, params, body }) => json(await service.crons.update(params.cron_id, body)),
  }),
  route({
    id: "delete_cron",
    method: "delete",
    path: "/runs/crons/{cron_id}",
    tag: "Crons",
    summary: "Delete a cron",
    description: "Runs that have already been accepted are not affected.",
    responses: [{ status: 204, description: "The cron is deleted." }],
    errors: ["cron_not_found"],
    handle: async ({ service, params }) => {
      await service.crons.delete(params.cron_id);
      return empty;
    },
  }),
];

import { Type } from "../../support/schema-builder.js";
import { RunAnswer, RunBatch, RunCreateRequest, RunModel, type Run } from "../../models/run.js";
import { IdempotencyKey } from "./run-parts.js";
import type { RunStream } from "../../models/run-stream.js";
import { route } from "../core/route.js";
import { json } from "../core/reply.js";
import {
  JOIN_RESPONSES,
  joined,
  joinOptions,
  LAST_EVENT_ID,
  STREAM_RESPONSE,
  StreamJoinQuery,
} from "./streams.js";

/** SDK clients read the run's id from this path. The thread of a stateless run is not exposed. */
const locationOf = ({ run_id }: Pick<Run, "run_id">) => ({ "Content-Location": `/runs/${run_id}` });
const headersOf = ({ run, resumable }: RunStream): Record<string, string> => ({
  ...locationOf(run),
  ...(resumable && { Location: `/runs/${run.run_id}/stream` }),
});
const LOCATION = { "Content-Location": Type.String({ description: "SDK clients read the run id from it." }) };
const KEY_HEADER = Type.Object({ "Idempotency-Key": IdempotencyKey });
const errors = ["assistant_not_found", "unsupported_option"] as const;

export const statelessRoutes = [
  route({
    id: "create_stateless_run",
    method: "post",
    path: "/runs",
    tag: "Runs",
    summary: "Create a stateless run in the background",
    body: RunCreateRequest,
    requestHeaders: KEY_HEADER,
    responses: [{ status: 200, description: "The pending run.", schema: RunModel, headers: LOCATION }],
    errors,
    handle: async ({ service, body }) => {
      const run = await service.runs.createStateless(body);
      return json(run, locationOf(run));
    },
  }),
  route({
    id: "wait_for_stateless_run",
    method: "post",
    path: "/runs/wait",
    tag: "Runs",
    summary: "Create a stateless run and wait for the final values",
    body: RunCreateRequest,
    requestHeaders: KEY_HEADER,
    responses: [
      {
        status: 200,
        description:
          "The final visible values; open interrupts are in `__interrupt__`, an error in `__error__`.",
        schema: RunAnswer,
        headers: LOCATION,
      },
    ],
    errors,
    handle: async ({ service, body, disconnected }) => {
      const { run, answer } = await service.runs.waitStateless(body, {
        signal: disconnected(),
      });
      return { kind: "waiting", answer, headers: locationOf(run) };
    },
  }),
  route({
    id: "stream_stateless_run",
    method: "post",
    path: "/runs/stream",
    tag: "Runs",
    summary: "Create a stateless run and stream events",
    body: RunCreateRequest,
    requestHeaders: KEY_HEADER,
    responses: [STREAM_RESPONSE],
    errors,
    handle: async ({ service, body, disconnected }) => {
      const stream = await service.runs.streamStateless(body, { signal: disconnected() });
      return { kind: "stream", stream, headers: headersOf(stream) };
    },
  }),
  route({
    id: "join_stateless_run_stream",
    method: "get",
    path: "/runs/{run_id}/stream",
    tag: "Runs",
    summary: "Follow the event stream of a stateless run",
    description:
      "Same as for a run on a thread, while its frames are kept: until five minutes after its end.",
    query: StreamJoinQuery,
    requestHeaders: LAST_EVENT_ID,
    responses: JOIN_RESPONSES,
    errors: ["run_not_found"],
    handle: async ({ service, params, query, headers }) => {
      const stream = await service.runs.joinStatelessStream(params.run_id, joinOptions(query, headers));
      return joined(stream, headers, headersOf(stream));
    },
  }),
  route({
    id: "create_stateless_runs",
    method: "post",
    path: "/runs/batch",
    tag: "Runs",
    summary: "Create several stateless runs in the background",
    body: RunBatch,
    responses: [{ status: 200, description: "The pending runs.", schema: Type.Array(RunModel) }],
    errors,
    handle: async ({ service, body }) => json(await service.runs.createBatch(body)),
  }),
];

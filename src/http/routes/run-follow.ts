import { Type } from "../../support/schema-builder.js";
import { StringEnum } from "../../models/common.js";
import { CancelManyRequest, RunAnswer, RunCreateRequest } from "../../models/run.js";
import { THREAD_STREAM_MODES } from "../../models/run-stream.js";
import { route } from "../core/route.js";
import { accepted, empty } from "../core/reply.js";
import { ContentLocation, createErrors, IdempotencyKey, pathOf, streamHeaders } from "./run-parts.js";
import {
  cancelOnDisconnect,
  JOIN_RESPONSES,
  joined,
  joinOptions,
  LAST_EVENT_ID,
  STREAM_RESPONSE,
  StreamJoinQuery,
} from "./streams.js";

const ANSWER = {
  status: 200,
  description: "The final visible values; open interrupts are in `__interrupt__`, an error in `__error__`.",
  schema: RunAnswer,
  headers: { "Content-Location": ContentLocation },
} as const;

const CancelQuery = Type.Object({
  wait: Type.Optional(Type.Boolean({ default: false, description: "Respond after the run has ended." })),
  action: Type.Optional(
    StringEnum(["interrupt", "rollback"], {
      default: "interrupt",
      description: "rollback also deletes the run and its checkpoints.",
    }),
  ),
});
const CANCEL_RESPONSES = [
  { status: 202, description: "The run is being cancelled, or had already ended." },
  { status: 204, description: "The run has ended (with `wait`)." },
] as const;

const THREAD_STREAM_HEADERS = { Location: Type.String({ description: "Path to rejoin the stream." }) };

export const runFollowRoutes = [
  route({
    id: "wait_for_new_run",
    method: "post",
    path: "/threads/{thread_id}/runs/wait",
    tag: "Runs",
    summary: "Run and wait for the final values",
    description:
      "Sends headers immediately, then blank lines until the answer is ready. There is no time limit for the response.",
    body: RunCreateRequest,
    requestHeaders: Type.Object({ "Idempotency-Key": IdempotencyKey }),
    responses: [ANSWER],
    errors: createErrors,
    handle: async ({ service, params, body, disconnected }) => {
      const { run, answer } = await service.runs.wait(params.thread_id, body, {
        signal: disconnected(),
      });
      return { kind: "waiting", answer, headers: { "Content-Location": pathOf(run) } };
    },
  }),
  route({
    id: "join_run",
    method: "get",
    path: "/threads/{thread_id}/runs/{run_id}/join",
    tag: "Runs",
    summary: "Wait for a run's final values",
    query: Type.Object({ cancel_on_disconnect: cancelOnDisconnect }),
    responses: [ANSWER],
    errors: ["run_not_found"],
    handle: async ({ service, params, query, disconnected }) => {
      const { run, answer } = await service.runs.join(params.thread_id, params.run_id, {
        signal: disconnected(),
        cancelOnDisconnect: query.cancel_on_disconnect,
      });
      return { kind: "waiting", answer, headers: { "Content-Location": pathOf(run) } };
    },
  }),
  route({
    id: "join_run_stream",
    method: "get",
    path: "/threads/{thread_id}/runs/{run_id}/stream",
    tag: "Runs",
    summary: "Follow a run's event stream",
    description:
      "Resumes after the frame in Last-Event-ID, even after the run has ended. Frames are kept for five minutes; after that, the stream contains `metadata`, the final `values` and the last frame.",
    query: StreamJoinQuery,
    requestHeaders: LAST_EVENT_ID,
    responses: JOIN_RESPONSES,
    errors: ["run_not_found"],
    handle: async ({ service, params, query, headers }) => {
      const options = joinOptions(query, headers);
      const stream = await service.runs.joinStream(params.thread_id, params.run_id, options);
      return joined(stream, headers, streamHeaders(stream));
    },
  }),
  route({
    id: "join_thread_stream",
    method: "get",
    path: "/threads/{thread_id}/stream",
    tag: "Runs",
    summary: "Follow the runs of a thread, one after the other",
    description:
      "The frames of the current run and of all following ones, as in the streams of the runs, with ids {run_id}:{frame id}. After each run there is a frame `run_done` {run_id, status}. The stream ends when its client disconnects or the thread is deleted.",
    query: Type.Object({
      stream_mode: Type.Optional(
        Type.Array(StringEnum(THREAD_STREAM_MODES), {
          description:
            "`run_modes`, all frames, by default; `lifecycle`, only `metadata` and `run_done` of each run.",
        }),
      ),
    }),
    requestHeaders: Type.Object({
      "Last-Event-ID": Type.Optional(
        Type.String({
          description: "Id of the last received frame; -1 also for the runs of the last minutes.",
        }),
      ),
    }),
    responses: [{ ...STREAM_RESPONSE, description: "The event stream.", headers: THREAD_STREAM_HEADERS }],
    errors: ["thread_not_found", "too_many_streams"],
    handle: async ({ service, params: { thread_id }, query, headers }) => {
      const lastEventId = headers["last-event-id"]?.toString() || undefined;
      const stream = await service.protocol.joinThread(thread_id, { lastEventId, modes: query.stream_mode });
      return { kind: "stream", stream, headers: { Location: `/threads/${thread_id}/stream` } };
    },
  }),
  route({
    id: "cancel_run",
    method: "post",
    path: "/threads/{thread_id}/runs/{run_id}/cancel",
    tag: "Runs",
    summary: "Cancel a run",
    query: CancelQuery,
    responses: CANCEL_RESPONSES,
    errors: ["run_not_found"],
    handle: async ({ service, params, query, disconnected }) => {
      const options = { ...query, signal: disconnected() };
      await service.runs.cancel(params.thread_id, params.run_id, options);
      return query.wait ? empty : accepted;
    },
  }),
  route({
    id: "cancel_runs",
    method: "post",
    path: "/runs/cancel",
    tag: "Runs",
    summary: "Cancel several runs of a thread",
    query: CancelQuery,
    body: CancelManyRequest,
    responses: CANCEL_RESPONSES,
    errors: [],
    handle: async ({ service, query, body, disconnected }) => {
      await service.runs.cancelMany(body, { ...query, signal: disconnected() });
      return query.wait ? empty : accepted;
    },
  }),
  route({
    id: "delete_run",
    method: "delete",
    path: "/threads/{thread_id}/runs/{run_id}",
    tag: "Runs",
    summary: "Delete a run's row",
    responses: [{ status: 204, description: "The run is deleted; its checkpoints stay." }],
    errors: ["run_not_found", "thread_busy"],
    handle: async ({ service, params }) => {
      await service.runs.delete(params.thread_id, params.run_id);
      return empty;
    },
  }),
];

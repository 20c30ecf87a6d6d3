/** Shared parts of the routes that respond with an event stream. */
import type { IncomingHttpHeaders } from "node:http";
import type { Static } from "@sinclair/typebox";
import { Type } from "../../support/schema-builder.js";
import { InvalidRequestError } from "../../support/errors.js";
import { StringEnum } from "../../models/common.js";
import { STREAM_MODES } from "../../models/run.js";
import type { JoinedStream } from "../../models/run-stream.js";
import type { Reply, ResponseSpec } from "../core/reply.js";

const EVENT_STREAM = "text/event-stream";

const DESCRIPTION = [
  "Server-sent events. Each frame has `id` (counting up from 0), `event` and `data` (one line of JSON).",
  "The first frame is `metadata` {run_id, thread_id, attempt}, followed by the requested stream modes under their",
  "names (`values`, `updates`, `custom`, `messages`, ...; of a subgraph as `mode|namespace`). The last frame is `end`",
  "{run_id, thread_id, status, usage} or `error` {error, message, detail, run_id, status, usage}.",
  "A comment line is sent every 5 seconds.",
].join(" ");

export const STREAM_RESPONSE: ResponseSpec = {
  status: 200,
  description: DESCRIPTION,
  schema: Type.String({ description: "The event stream." }),
  contentType: EVENT_STREAM,
  headers: {
    "Content-Location": Type.String({ description: "Path of the run; SDK clients read the run id from it." }),
    Location: Type.String({
      description: "Path to rejoin the stream; set if the run continues after its client disconnects.",
    }),
  },
};

export const cancelOnDisconnect = Type.Optional(
  Type.Boolean({ default: false, description: "Cancel the run when this client disconnects." }),
);

export const StreamJoinQuery = Type.Object({
  stream_mode: Type.Optional(
    Type.Array(StringEnum(STREAM_MODES), { description: "Only frames of these modes; can be repeated." }),
  ),
  cancel_on_disconnect: cancelOnDisconnect,
});

export const LAST_EVENT_ID = Type.Object({
  "Last-Event-ID": Type.Optional(
    Type.String({ description: "Id of the last received frame; -1 for the beginning." }),
  ),
});

export const JOIN_RESPONSES: readonly ResponseSpec[] = [
  STREAM_RESPONSE,
  {
    status: 204,
    description:
      "With `Accept: text/event-stream`: the run has ended, and Last-Event-ID is its last frame. Clients must not reconnect.",
  },
];

/**
 * The remaining frames of a stream. If there are none, 204 prevents an EventSource from
 * reconnecting. An EventSource sends an Accept header; the SDK for JavaScript does not, and treats
 * a response without a body as an error.
 */
export function joined(
  stream: JoinedStream,
  { accept = "" }: IncomingHttpHeaders,
  headers: Record<string, string>,
): Reply {
  if (!stream.isOver || !accept.includes(EVENT_STREAM)) return { kind: "stream", stream, headers };
  // Python clients check the content type before the status.
  return { kind: "empty", status: 204, headers: { "Content-Type": EVENT_STREAM, ...headers } };
}

export function joinOptions(query: Static<typeof StreamJoinQuery>, headers: IncomingHttpHeaders) {
  return {
    after: lastEventId(headers["last-event-id"]),
    modes: query.stream_mode,
    cancelOnDisconnect: query.cancel_on_disconnect,
  };
}

/** Id of the client's last frame; -1 for the beginning. */
function lastEventId(header: string | string[] | undefined): number {
  if (header === undefined || header === "") return -1;
  const id = Number(header);
  if (Number.isInteger(id) && id >= -1) return id;
  throw InvalidRequestError.at(
    ["header", "Last-Event-ID"],
    "must be the id of a frame, or -1",
    "int_parsing",
  );
}

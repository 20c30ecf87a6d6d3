/** What the routes that answer with an event stream have in common. */
import type { IncomingHttpHeaders } from "node:http";
import { Type, type Static } from "@sinclair/typebox";
import { InvalidRequestError } from "../../support/errors.js";
import { StringEnum } from "../../models/common.js";
import { STREAM_MODES } from "../../models/run.js";
import type { JoinedStream } from "../../service/service.js";
import type { Reply, ResponseSpec } from "../core/route.js";

const EVENT_STREAM = "text/event-stream";

const DESCRIPTION = [
  "Server-sent events. Each frame has `id` (counting up from 0), `event` and `data` (one line of JSON).",
  "First comes `metadata` {run_id, thread_id, attempt}; then the requested stream modes under their names",
  "(`values`, `updates`, `custom`, `messages`, ...; of a subgraph as `mode|namespace`); last either `end`",
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
    Location: Type.String({ description: "Where to rejoin the stream, if the run outlives its client." }),
  },
};

export const cancelOnDisconnect = Type.Optional(
  Type.Boolean({ default: false, description: "Cancel the run when this client disconnects." }),
);

export const StreamJoinQuery = Type.Object({
  stream_mode: Type.Optional(
    Type.Array(StringEnum(STREAM_MODES), { description: "Only frames of these modes; may be repeated." }),
  ),
  cancel_on_disconnect: cancelOnDisconnect,
});

export const LAST_EVENT_ID = Type.Object({
  "Last-Event-ID": Type.Optional(
    Type.String({ description: "Id of the last frame that was seen; -1 is the beginning." }),
  ),
});

/** What a stream that is joined answers. */
export const JOIN_RESPONSES: readonly ResponseSpec[] = [
  STREAM_RESPONSE,
  {
    status: 204,
    description:
      "With `Accept: text/event-stream`: the run has ended, and Last-Event-ID is its last frame. There is nothing to come back for.",
  },
];

/**
 * The rest of a stream. Where there is none, an EventSource, which comes back whenever a stream ends, is told to stay
 * away. It says what it accepts; the SDK for JavaScript does not, and takes an answer without a body for a fault.
 */
export function joined(
  stream: JoinedStream,
  { accept = "" }: IncomingHttpHeaders,
  headers: Record<string, string>,
): Reply {
  if (!stream.isOver || !accept.includes(EVENT_STREAM)) return { kind: "stream", stream, headers };
  // Clients in Python look at the type before the status.
  return { kind: "empty", status: 204, headers: { "Content-Type": EVENT_STREAM, ...headers } };
}

/** What a request to join a stream asks for. */
export function joinOptions(query: Static<typeof StreamJoinQuery>, headers: IncomingHttpHeaders) {
  return {
    after: lastEventId(headers["last-event-id"]),
    modes: query.stream_mode,
    cancelOnDisconnect: query.cancel_on_disconnect,
  };
}

/** Where a client left off: -1 for the beginning. */
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

/** What the routes that answer with an event stream have in common. */
import type { IncomingHttpHeaders } from "node:http";
import { Type, type Static } from "@sinclair/typebox";
import { InvalidRequestError } from "../../errors.js";
import { StringEnum } from "../../models/common.js";
import { STREAM_MODES } from "../../models/run.js";
import type { ResponseSpec } from "../route.js";

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
  contentType: "text/event-stream",
  headers: {
    "Content-Location": Type.String({ description: "Path of the run; SDK clients read the run id from it." }),
    Location: Type.String({ description: "Where to go on reading, when the run outlives its client." }),
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

export const LAST_EVENT_ID = {
  "Last-Event-ID": Type.Optional(
    Type.String({ description: "Id of the last frame that was seen; -1 is the beginning." }),
  ),
};

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

/** Settings that limit the resources of one client. docs/safety.md lists all limits. */
import { Type } from "../support/schema-builder.js";

export const limitSettings = {
  body_limit: Type.Optional(
    Type.Integer({
      minimum: 1024,
      default: 20 * 1024 * 1024,
      description: "Maximum size of a request body, in bytes.",
    }),
  ),
  max_incoming_bytes: Type.Optional(
    Type.Integer({
      minimum: 1024 * 1024,
      default: 256 * 1024 * 1024,
      description:
        "Maximum total bytes of request bodies being read concurrently, after decompression; beyond it, the largest are rejected with 503.",
    }),
  ),
  max_unread_bytes: Type.Optional(
    Type.Integer({
      minimum: 1024 * 1024,
      default: 256 * 1024 * 1024,
      description:
        "Maximum total bytes buffered for clients that have not read their responses and streams; beyond it, the clients that have been idle longest are disconnected.",
    }),
  ),
  max_kept_frame_bytes: Type.Optional(
    Type.Integer({
      minimum: 1024 * 1024,
      default: 256 * 1024 * 1024,
      description:
        "Maximum total bytes of frames kept in memory for slow and late readers; beyond it, frames of ended runs are dropped first, then unread frames of slow readers.",
    }),
  ),
  unread_timeout_seconds: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 86_400,
      default: 30,
      description: "Seconds after which a client that does not read its response is disconnected.",
    }),
  ),
  max_active_runs: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 2000,
      description:
        "Maximum number of runs active or waiting for their thread in a process without a queue; one user can have half of them. Beyond it: 429.",
    }),
  ),
  max_queued_runs: Type.Optional(
    Type.Integer({
      minimum: 0,
      default: 100,
      description: "Maximum number of callers that can wait for one thread.",
    }),
  ),
};

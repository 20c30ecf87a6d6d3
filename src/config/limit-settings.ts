/** Settings that bound what one client can take up; part of ./settings.ts. docs/safety.md lists all bounds. */
import { Type } from "@sinclair/typebox";

export const limitSettings = {
  body_limit: Type.Optional(
    Type.Integer({
      minimum: 1024,
      default: 20 * 1024 * 1024,
      description: "Largest request body, in bytes.",
    }),
  ),
  max_incoming_bytes: Type.Optional(
    Type.Integer({
      minimum: 1024 * 1024,
      default: 256 * 1024 * 1024,
      description:
        "Most bytes of request bodies that are being read at once, inflated ones included; beyond it, the largest are refused with 503.",
    }),
  ),
  max_unread_bytes: Type.Optional(
    Type.Integer({
      minimum: 1024 * 1024,
      default: 256 * 1024 * 1024,
      description:
        "Most bytes of answers and streams that are kept for clients that have yet to read them; beyond it, those that read nothing for longest are cut off.",
    }),
  ),
  max_kept_frame_bytes: Type.Optional(
    Type.Integer({
      minimum: 1024 * 1024,
      default: 256 * 1024 * 1024,
      description:
        "Most bytes of frames kept in memory for readers who are slow or come later; beyond it, frames of ended runs are dropped first, then those that slow readers have yet to see.",
    }),
  ),
  unread_timeout_seconds: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 86_400,
      default: 30,
      description: "Seconds after which a client that reads nothing of its answer is cut off.",
    }),
  ),
  max_active_runs: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 2000,
      description:
        "Most runs that a process without a queue has in flight or waiting for their thread; one user may have half of them. Beyond it: 429.",
    }),
  ),
  max_queued_runs: Type.Optional(
    Type.Integer({ minimum: 0, default: 100, description: "Most callers that may wait for one thread." }),
  ),
};

/** Settings that bound what one client can take up; part of ./settings.ts. docs/safety.md lists all bounds. */
import { Type } from "@sinclair/typebox";

export const boundSettings = {
  body_limit: Type.Optional(
    Type.Integer({
      minimum: 1024,
      default: 20 * 1024 * 1024,
      description: "Largest request body, in bytes.",
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
  unread_timeout_seconds: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 86_400,
      default: 30,
      description: "Seconds after which a client that reads nothing of its answer is cut off.",
    }),
  ),
  max_queued_runs: Type.Optional(
    Type.Integer({ minimum: 0, default: 100, description: "Most callers that may wait for one thread." }),
  ),
};

import type { Static } from "@sinclair/typebox";
import { Type } from "../support/schema-builder.js";
import { Limit, Nullable, Offset, StringEnum, Timestamp, Uuid } from "./common.js";

const WEBHOOK_STATUSES = ["pending", "failed"] as const;

export const WebhookModel = Type.Object(
  {
    run_id: Uuid("Run whose result is to be sent."),
    thread_id: Uuid("Thread of the run."),
    url: Type.String({ description: "Target URL, without its query." }),
    status: StringEnum(WEBHOOK_STATUSES, {
      description: "`pending` until it is delivered; `failed` after the last attempt.",
    }),
    sendings: Type.Integer({ description: "Number of failed attempts." }),
    last_error: Nullable(Type.String(), {
      description: "Error of the last attempt; null before the first one.",
    }),
    created_at: Timestamp("When the run was accepted."),
    next_sending_at: Nullable(Timestamp("Time of the next attempt."), {
      description: "Time of the next attempt; null while the run is active and after the last attempt.",
    }),
    failed_at: Nullable(Timestamp("When the last attempt failed."), {
      description: "When the last attempt failed; the webhook is kept for seven days.",
    }),
  },
  { title: "WebhookModel", description: "The result of a run, to be delivered to the URL of its `webhook`." },
);
export type Webhook = Static<typeof WebhookModel>;

export const WebhookListQuery = Type.Object({
  status: Type.Optional(StringEnum(WEBHOOK_STATUSES, { description: "Only webhooks of this status." })),
  limit: Type.Optional(Limit),
  offset: Type.Optional(Offset),
});
export type WebhookFilter = Static<typeof WebhookListQuery>;

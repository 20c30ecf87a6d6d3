import { Type, type Static } from "@sinclair/typebox";
import { Limit, Nullable, Offset, StringEnum, Timestamp, Uuid } from "./common.js";

const WEBHOOK_STATUSES = ["pending", "failed"] as const;

export const WebhookModel = Type.Object(
  {
    run_id: Uuid("Run whose end is to be posted."),
    thread_id: Uuid("Thread of the run."),
    url: Type.String({ description: "Where to, without its query." }),
    status: StringEnum(WEBHOOK_STATUSES, {
      description: "`pending` until it has arrived, or is given up: then `failed`.",
    }),
    sendings: Type.Integer({ description: "How often it was sent in vain." }),
    last_error: Nullable(Type.String(), { description: "Why it did not arrive; null before it was sent." }),
    created_at: Timestamp("When the run was accepted."),
    next_sending_at: Nullable(Timestamp("When it is sent next."), {
      description: "Time of the next attempt; null while its run is in flight, and after the last attempt.",
    }),
    failed_at: Nullable(Timestamp("When it was given up."), {
      description: "When it was given up; it is kept for seven days.",
    }),
  },
  { title: "WebhookModel", description: "How a run ended, on its way to the URL of its `webhook`." },
);
export type Webhook = Static<typeof WebhookModel>;

export const WebhookListQuery = Type.Object({
  status: Type.Optional(StringEnum(WEBHOOK_STATUSES, { description: "Only those of this status." })),
  limit: Type.Optional(Limit),
  offset: Type.Optional(Offset),
});
export type WebhookFilter = Static<typeof WebhookListQuery>;

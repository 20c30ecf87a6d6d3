import { Type } from "../../support/schema-builder.js";
import { WebhookListQuery, WebhookModel } from "../../models/webhook.js";
import { route } from "../core/route.js";
import { accepted, empty, jsonPage, PAGE_HEADERS } from "../core/reply.js";

/** Served if the setting webhooks is set. */
export const webhookRoutes = [
  route({
    id: "list_webhooks",
    method: "get",
    path: "/webhooks",
    tag: "Webhooks",
    summary: "List undelivered webhooks",
    query: WebhookListQuery,
    responses: [
      {
        status: 200,
        description: "One page of pending and failed webhooks, oldest first.",
        schema: Type.Array(WebhookModel),
        headers: PAGE_HEADERS,
      },
    ],
    errors: [],
    handle: async ({ service, query }) => jsonPage(await service.webhooks.list(query)),
  }),
  route({
    id: "send_webhook",
    method: "post",
    path: "/webhooks/{run_id}/send",
    tag: "Webhooks",
    summary: "Send a webhook again",
    description:
      "Sends the webhook immediately and resets its number of attempts. If its run is still active, it is sent after the run has ended.",
    responses: [{ status: 202, description: "The webhook is being sent." }],
    errors: ["webhook_not_found"],
    handle: async ({ service, params }) => {
      await service.webhooks.send(params.run_id);
      return accepted;
    },
  }),
  route({
    id: "delete_webhook",
    method: "delete",
    path: "/webhooks/{run_id}",
    tag: "Webhooks",
    summary: "Delete a webhook",
    description: "The webhook is no longer sent; the run is not affected.",
    responses: [{ status: 204, description: "The webhook is deleted." }],
    errors: ["webhook_not_found"],
    handle: async ({ service, params }) => {
      await service.webhooks.delete(params.run_id);
      return empty;
    },
  }),
];

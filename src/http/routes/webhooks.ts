import { Type } from "@sinclair/typebox";
import { WebhookListQuery, WebhookModel } from "../../models/webhook.js";
import { accepted, empty, jsonPage, PAGE_HEADERS, route } from "../core/route.js";

/** Served while the setting webhooks is there. */
export const webhookRoutes = [
  route({
    id: "list_webhooks",
    method: "get",
    path: "/webhooks",
    tag: "Webhooks",
    summary: "List webhooks that have not arrived",
    query: WebhookListQuery,
    responses: [
      {
        status: 200,
        description: "Those to be sent, and those that were given up, oldest first, one page.",
        schema: Type.Array(WebhookModel),
        headers: PAGE_HEADERS,
      },
    ],
    errors: [],
    handle: async ({ service, query }) => jsonPage(await (await service.webhooks).list(query)),
  }),
  route({
    id: "send_webhook",
    method: "post",
    path: "/webhooks/{run_id}/send",
    tag: "Webhooks",
    summary: "Send a webhook again",
    description:
      "Sent at once, with the full number of attempts again; while its run is in flight, it waits for the end.",
    responses: [{ status: 202, description: "It is being sent." }],
    errors: ["webhook_not_found"],
    handle: async ({ service, params }) => {
      await (await service.webhooks).send(params.run_id);
      return accepted;
    },
  }),
  route({
    id: "delete_webhook",
    method: "delete",
    path: "/webhooks/{run_id}",
    tag: "Webhooks",
    summary: "Delete a webhook",
    description: "It is not sent any more; the run stays as it is.",
    responses: [{ status: 204, description: "It is gone." }],
    errors: ["webhook_not_found"],
    handle: async ({ service, params }) => {
      await (await service.webhooks).delete(params.run_id);
      return empty;
    },
  }),
];

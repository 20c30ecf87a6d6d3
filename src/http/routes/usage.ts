import { NodeUsageQuery, NodeUsageSums, UsageListQuery, UsageModel } from "../../models/usage.js";
import { Type } from "../../support/schema-builder.js";
import { route } from "../core/route.js";
import { json, jsonPage, PAGE_HEADERS } from "../core/reply.js";

export const usageRoutes = [
  route({
    id: "list_usage",
    method: "get",
    path: "/usage",
    tag: "Usage",
    summary: "Sum the usage of models",
    description: "A user sees their own usage. The total number of groups is not counted.",
    query: UsageListQuery,
    responses: [
      {
        status: 200,
        description: "One page of groups, sorted by what they are grouped by.",
        schema: Type.Array(UsageModel),
        headers: { "X-Pagination-Next": PAGE_HEADERS["X-Pagination-Next"] },
      },
    ],
    errors: ["unsupported_option"],
    handle: async ({ service, query }) => jsonPage(await service.usage(query)),
  }),
  route({
    id: "sum_usage_by_node",
    method: "get",
    path: "/usage/nodes",
    tag: "Usage",
    summary: "Sum time, tokens, costs, errors and retries by node",
    description:
      "Of those of the newest 500 runs of an assistant that have ended. A user sees their own runs. Reads no states.",
    query: NodeUsageQuery,
    responses: [{ status: 200, description: "The sums.", schema: NodeUsageSums }],
    errors: [],
    handle: async ({ service, query }) => json(await service.usageByNode(query)),
  }),
];

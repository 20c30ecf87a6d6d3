import { UsageListQuery, UsageModel } from "../../models/usage.js";
import { Type } from "../../support/schema-builder.js";
import { jsonPage, PAGE_HEADERS, route } from "../core/route.js";

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
];

import { Type } from "@sinclair/typebox";
import { GraphServeError } from "../../errors.js";
import { route } from "../route.js";

export const metricsRoutes = [
  route({
    id: "get_metrics",
    method: "get",
    path: "/metrics",
    tag: "Health and info",
    summary: "Figures for Prometheus",
    description: "Served when the setting metrics is on, by the package prom-client.",
    responses: [
      {
        status: 200,
        description: "Figures in Prometheus's text format.",
        schema: Type.String({ description: "The figures." }),
        contentType: "text/plain",
      },
    ],
    errors: ["route_not_found"],
    handle: async ({ service: { metrics } }) => {
      if (!metrics)
        throw new GraphServeError("route_not_found", "there is no route GET /metrics", {
          hint: "the setting metrics is off",
        });
      return { kind: "text", text: await metrics.text(), contentType: metrics.contentType };
    },
  }),
];

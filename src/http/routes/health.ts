import { Type } from "../../support/schema-builder.js";
import {
  HealthResponse,
  InitialMessageResponse,
  OkResponse,
  ReadyResponse,
  ServerInfoModel,
} from "../../models/info.js";
import { GraphServeError } from "../../support/errors.js";
import { VERSION } from "../../support/own-package.js";
import { route } from "../core/route.js";
import { json } from "../core/reply.js";

export const healthRoutes = [
  route({
    id: "get_health",
    method: "get",
    path: "/api/health",
    tag: "Health and info",
    summary: "Liveness check",
    responses: [{ status: 200, description: "The service is alive.", schema: HealthResponse }],
    errors: [],
    handle: () => json({ status: "ok", version: VERSION }),
  }),
  route({
    id: "get_ok",
    method: "get",
    path: "/ok",
    tag: "Health and info",
    summary: "Minimal liveness check",
    responses: [{ status: 200, description: "The service is alive.", schema: OkResponse }],
    errors: [],
    handle: () => json({ ok: true }),
  }),
  route({
    id: "get_ready",
    method: "get",
    path: "/ready",
    tag: "Health and info",
    summary: "Readiness check: reports whether this process accepts runs",
    description:
      "Checks the storage, with a timeout of two seconds. 503 contains the reason why this process should not receive requests; it does not mean that the process must be restarted.",
    responses: [{ status: 200, description: "Runs are accepted.", schema: ReadyResponse }],
    errors: ["storage_unavailable", "shutting_down"],
    handle: async ({ service }) => {
      const { clock } = await service.readiness.check();
      const { frames } = service.readiness;
      return json({
        ready: true,
        ...(frames && { frames }),
        ...(clock !== undefined && { clock_difference_seconds: clock }),
      });
    },
  }),
  route({
    id: "get_info",
    method: "get",
    path: "/info",
    tag: "Health and info",
    summary: "Server identity for SDK clients",
    responses: [{ status: 200, description: "Name, version and capabilities.", schema: ServerInfoModel }],
    errors: [],
    handle: ({ service }) => json(service.info()),
  }),
  route({
    id: "get_initial_message",
    method: "get",
    path: "/api/initial-message",
    tag: "Health and info",
    summary: "Welcome message",
    responses: [{ status: 200, description: "The welcome message.", schema: InitialMessageResponse }],
    errors: [],
    handle: ({ service }) => json(service.initialMessage()),
  }),
];

export const metricsRoutes = [
  route({
    id: "get_metrics",
    method: "get",
    path: "/metrics",
    tag: "Health and info",
    summary: "Prometheus metrics",
    description: "Requires the setting metrics and the package prom-client.",
    responses: [
      {
        status: 200,
        description: "Metrics in Prometheus's text format.",
        schema: Type.String({ description: "The metrics." }),
        contentType: "text/plain",
      },
    ],
    errors: ["route_not_found"],
    handle: async ({ service: { metrics } }) => {
      if (!metrics)
        throw new GraphServeError("route_not_found", "route GET /metrics does not exist", {
          hint: "turn on the setting metrics",
        });
      return { kind: "text", text: await metrics.text(), contentType: metrics.contentType };
    },
  }),
];

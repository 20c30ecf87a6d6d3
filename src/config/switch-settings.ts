/** Settings that switch on what is not served without them; part of ./settings.ts. */
import { Type } from "@sinclair/typebox";

export const switchSettings = {
  studio: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Serve the Studio at /studio; `dev` does so unless started with --no-studio.",
    }),
  ),
  metrics: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Serve figures for Prometheus at /metrics; needs the package prom-client.",
    }),
  ),
  mcp: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        "Serve the graphs as tools at /mcp (Model Context Protocol); needs the package @modelcontextprotocol/sdk.",
    }),
  ),
  a2a: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        "Serve the graphs as agents at /a2a/{assistant_id} (Agent2Agent protocol); needs the package @a2a-js/sdk.",
    }),
  ),
  crons: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Serve crons: runs that are executed again and again by a schedule (docs/schedules.md).",
    }),
  ),
  delayed_runs: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Take runs with `after_seconds`, which begin later (docs/schedules.md).",
    }),
  ),
};

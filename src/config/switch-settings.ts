/** Settings that enable optional features. */
import { Type } from "../support/schema-builder.js";

export const switchSettings = {
  direct_streams: Type.Optional(
    Type.Boolean({
      default: true,
      description:
        "Read the chunks of graphs from LangGraph's own generator, at half the cost of LangChain's public stream; false reads the public stream.",
    }),
  ),
  studio: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Serve the Studio at /studio; `dev` enables it unless started with --no-studio.",
    }),
  ),
  mcp: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        "Serve the graphs as tools at /mcp (Model Context Protocol); needs the package @modelcontextprotocol/sdk, and for version 2026-07-28 also @modelcontextprotocol/server.",
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
      description: "Serve crons: runs that are executed on a schedule (docs/schedules.md).",
    }),
  ),
  delayed_runs: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Accept delayed runs, with `after_seconds` (docs/schedules.md).",
    }),
  ),
  trace_content: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        "Add the input and the answer of each run to its span; also OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true (docs/observability.md).",
    }),
  ),
  trace_keep: Type.Optional(
    Type.Array(Type.String({ pattern: "^(error|slow:\\d+(\\.\\d+)?(ms|s))$" }), {
      default: [],
      description:
        "Export only the spans of these runs: error, failed ones; slow:30s, those that take at least that long. Empty: of all runs.",
    }),
  ),
};

/** CORS: which origins may read responses, with which methods and headers. */
import cors from "cors";
import type { RequestHandler } from "express";
import type { Service } from "../../service/service.js";
import { type OriginSettings, originRules } from "./origins.js";

type Settings = Service["settings"];

const EXPOSED_HEADERS = [
  "Content-Location",
  "Location",
  "X-Pagination-Total",
  "X-Pagination-Next",
  "X-Tokens-Used",
  "X-Cost-Used",
  "X-Request-Id",
];
/** Headers that browser-based MCP clients read. */
const MCP_HEADERS = ["Mcp-Session-Id"];

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

type CorsSettings = OriginSettings &
  Pick<
    Settings,
    "cors_methods" | "cors_headers" | "cors_expose_headers" | "cors_credentials" | "cors_max_age" | "mcp"
  >;

export function corsHeaders(settings: CorsSettings): RequestHandler {
  const { cors_methods: methods, cors_headers: headers, cors_credentials: credentials } = settings;
  return cors({
    // Browsers do not accept * for requests with credentials.
    origin: originRules(settings) ?? (credentials ? true : "*"),
    methods: methods.includes("*") ? METHODS : [...methods],
    // Without the option, the package reflects the requested headers.
    ...(headers.length > 0 && !headers.includes("*") && { allowedHeaders: [...headers] }),
    exposedHeaders: [
      ...EXPOSED_HEADERS,
      ...(settings.mcp ? MCP_HEADERS : []),
      ...settings.cors_expose_headers,
    ],
    credentials,
    ...(settings.cors_max_age !== undefined && { maxAge: settings.cors_max_age }),
    optionsSuccessStatus: 204,
  });
}

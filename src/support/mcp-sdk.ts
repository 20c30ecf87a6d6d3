/**
 * Loads the official SDK of the Model Context Protocol, an optional package, only if the setting
 * `mcp` is on.
 */
import type * as Server from "@modelcontextprotocol/sdk/server/index.js";
import type * as Stdio from "@modelcontextprotocol/sdk/server/stdio.js";
import type * as Http from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type * as Types from "@modelcontextprotocol/sdk/types.js";
import type * as Modern from "@modelcontextprotocol/server";
import type * as ModernStdio from "@modelcontextprotocol/server/stdio";
import type * as Validation from "@modelcontextprotocol/sdk/validation/ajv-provider.js";
import { loadIfInstalled, loadOptional } from "./optional-package.js";

const PACKAGE = "@modelcontextprotocol/sdk";
/** Adds protocol version 2026-07-28. */
const MODERN_PACKAGE = "@modelcontextprotocol/server";

export type ModernMcpSdk = typeof Modern;

export interface McpSdk {
  Server: typeof Server.Server;
  HttpTransport: typeof Http.WebStandardStreamableHTTPServerTransport;
  StdioTransport: typeof Stdio.StdioServerTransport;
  types: typeof Types;
  /** Shared by all servers; otherwise each would create its own. */
  validator: Validation.AjvJsonSchemaValidator;
  /** Undefined if its package is not installed. */
  modern: ModernMcpSdk | undefined;
  /** Undefined if `modern` is. */
  modernStdio: typeof ModernStdio | undefined;
}

/**
 * @param cwd project folder, whose copy of the package is used
 * @throws ConfigError if the package is missing or incomplete (`config_invalid`)
 */
export function loadMcpSdk(cwd: string): McpSdk {
  const load = <T>(file: string): T => loadOptional<T>(`${PACKAGE}/${file}`, { cwd, setting: "mcp" });
  const { AjvJsonSchemaValidator } = load<typeof Validation>("validation/ajv-provider.js");
  return {
    Server: load<typeof Server>("server/index.js").Server,
    HttpTransport: load<typeof Http>("server/webStandardStreamableHttp.js")
      .WebStandardStreamableHTTPServerTransport,
    StdioTransport: load<typeof Stdio>("server/stdio.js").StdioServerTransport,
    types: load<typeof Types>("types.js"),
    validator: new AjvJsonSchemaValidator(),
    modern: loadIfInstalled<ModernMcpSdk>(MODERN_PACKAGE, { cwd, setting: "mcp" }),
    modernStdio: loadIfInstalled<typeof ModernStdio>(`${MODERN_PACKAGE}/stdio`, { cwd, setting: "mcp" }),
  };
}

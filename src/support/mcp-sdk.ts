/** The official SDK of the Model Context Protocol, an optional package: loaded only where graphs are served by it. */
import type * as Server from "@modelcontextprotocol/sdk/server/index.js";
import type * as Stdio from "@modelcontextprotocol/sdk/server/stdio.js";
import type * as Http from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type * as Types from "@modelcontextprotocol/sdk/types.js";
import type * as Validation from "@modelcontextprotocol/sdk/validation/ajv-provider.js";
import { loadOptional } from "./optional-package.js";

const PACKAGE = "@modelcontextprotocol/sdk";

export interface McpSdk {
  Server: typeof Server.Server;
  HttpTransport: typeof Http.WebStandardStreamableHTTPServerTransport;
  StdioTransport: typeof Stdio.StdioServerTransport;
  types: typeof Types;
  /** One for all servers: each would make one of its own. */
  validator: Validation.AjvJsonSchemaValidator;
}

/**
 * @param cwd folder of the project, whose copy is used
 * @throws ConfigError when there is none, or one that lacks a part (`config_invalid`)
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
  };
}

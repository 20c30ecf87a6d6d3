/** The official SDK of the Agent2Agent protocol, an optional package: loaded only where graphs are served by it. */
import type * as Types from "@a2a-js/sdk";
import type * as Legacy from "@a2a-js/sdk/compat/v0_3/server";
import type * as Errors from "@a2a-js/sdk/errors";
import type * as Server from "@a2a-js/sdk/server";
import { loadOptional } from "./optional-package.js";

const PACKAGE = "@a2a-js/sdk";

export interface A2aSdk {
  types: typeof Types;
  server: typeof Server;
  errors: typeof Errors;
  /** Handles what clients of version 0.3 send. */
  Legacy: typeof Legacy.LegacyJsonRpcTransportHandler;
}

/**
 * @param cwd folder of the project, whose copy is used
 * @throws ConfigError when there is none, or one that lacks a part (`config_invalid`)
 */
export function loadA2aSdk(cwd: string): A2aSdk {
  const load = <T>(id: string): T => loadOptional<T>(id, { cwd, setting: "a2a" });
  return {
    types: load<typeof Types>(PACKAGE),
    server: load<typeof Server>(`${PACKAGE}/server`),
    errors: load<typeof Errors>(`${PACKAGE}/errors`),
    Legacy: load<typeof Legacy>(`${PACKAGE}/compat/v0_3/server`).LegacyJsonRpcTransportHandler,
  };
}

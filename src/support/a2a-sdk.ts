/**
 * Loads the official SDK of the Agent2Agent protocol, an optional package, only if the setting
 * `a2a` is on.
 */
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
  /** Handles requests of clients that use version 0.3. */
  Legacy: typeof Legacy.LegacyJsonRpcTransportHandler;
}

/**
 * @param cwd project folder, whose copy of the package is used
 * @throws ConfigError if the package is missing or incomplete (`config_invalid`)
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

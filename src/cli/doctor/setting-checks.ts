/** Checks of the packages and functions that settings load. */
import type { Variables } from "../../config/environment.js";
import type { LoadedConfig } from "../../config/load.js";
import { errorMessage } from "../../support/errors/thrown.js";
import { silentLogger } from "../../support/log.js";
import { loadOptional } from "../../support/optional-package.js";
import { type Check, ok, failure } from "./check.js";

/** Loads the optional packages of settings, without which a server does not start. */
export async function optionalChecks({ settings, baseDir: cwd }: LoadedConfig): Promise<Check[]> {
  const loads = {
    a2a: async () => (await import("../../support/a2a-sdk.js")).loadA2aSdk(cwd),
    mcp: async () => (await import("../../support/mcp-sdk.js")).loadMcpSdk(cwd),
    metrics: async () => loadOptional("prom-client", { cwd, setting: "metrics" }),
  };
  const checks: Check[] = [];
  for (const name of ["a2a", "mcp", "metrics"] as const)
    if (settings[name])
      checks.push(
        await loads[name]().then(
          () => ok(name, "its package is installed"),
          (error: unknown) => failure(name, error, `install its package, or turn ${name} off`),
        ),
      );
  return checks;
}

/** Loads the packages of OpenTelemetry if the environment names a collector: no run starts without them. */
export async function collectorCheck(cwd: string, env: Variables): Promise<Check[]> {
  const { isDisabled, loadSdk, variableOf } = await import("../../tracing/provider.js");
  const variable = isDisabled(env) ? undefined : variableOf(env);
  if (variable === undefined) return [];
  try {
    loadSdk(cwd, env, variable);
    return [ok("traces", `exported to ${variable}`)];
  } catch (error) {
    return [failure("traces", error, "install the packages of OpenTelemetry, or remove the variable")];
  }
}

/** Loads the function or the object of the setting `auth`. */
export async function authCheck({ settings, baseDir: cwd }: LoadedConfig): Promise<Check[]> {
  const { auth, auth_timeout_seconds: timeoutSeconds } = settings;
  if (auth === undefined) return [];
  try {
    const { AuthHook } = await import("../../service/auth-hook.js");
    await AuthHook.open(auth, { cwd, timeoutSeconds }, silentLogger);
    return [ok("auth", auth)];
  } catch (error) {
    return [failure("auth", error, "name a file and an export that authenticates requests")];
  }
}

/** Loads the app of the setting `http_app`. */
export async function appCheck({ settings: { http_app }, baseDir }: LoadedConfig): Promise<Check[]> {
  if (http_app === undefined) return [];
  try {
    const { HttpAppHook } = await import("../../service/http-app.js");
    await HttpAppHook.open(http_app, baseDir);
    return [ok("http_app", http_app)];
  } catch (error) {
    return [failure("http_app", error, "name a file and an export that is an app")];
  }
}

/** Calls the embedding function of the setting `store_index`. */
export async function embeddingCheck({ settings: { store_index }, baseDir }: LoadedConfig): Promise<Check[]> {
  if (!store_index) return [];
  const { embed, dims } = store_index;
  try {
    const { EmbeddingHook } = await import("../../service/embeddings.js");
    await (await EmbeddingHook.open(store_index, baseDir)).index(silentLogger).probe();
    return [ok("store_index", `${embed}, ${dims} numbers per vector`)];
  } catch (error) {
    const check = failure("store_index", error, "name a file and an export that is an embedding function");
    const { cause } = error as Error;
    return [cause === undefined ? check : { ...check, detail: `${check.detail}: ${errorMessage(cause)}` }];
  }
}

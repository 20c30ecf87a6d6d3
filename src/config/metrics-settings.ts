/** Settings of `/metrics`: whether it is served, on which port, and with which key. */
import { Type } from "../support/schema-builder.js";
import { ConfigError } from "../support/errors.js";

export const metricsSettings = {
  metrics: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Serve Prometheus metrics at /metrics; needs the package prom-client.",
    }),
  ),
  metrics_port: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description:
        "Port of a second server for /metrics, with the same keys and host names; `port` then serves no metrics. Default: no second server.",
    }),
  ),
  metrics_key: Type.Optional(
    Type.String({
      minLength: 8,
      pattern: "^[\\x21-\\x7e]+$",
      description:
        "Key that only /metrics accepts, and the only one that it accepts; sent like the keys of api_keys. Default: as for other routes.",
    }),
  ),
};

interface MetricsSettings {
  metrics: boolean;
  metrics_port?: number;
  metrics_key?: string;
  port: number;
  health_port?: number;
  open_routes: readonly string[];
  api_keys?: readonly (string | { key: string })[];
}

/** @throws ConfigError if the settings contradict each other (`config_invalid`) */
export function assertMetrics(settings: MetricsSettings): void {
  const { metrics, metrics_port: own, metrics_key: key } = settings;
  const [unused] = (["metrics_port", "metrics_key"] as const).filter((name) => settings[name] !== undefined);
  if (!metrics && unused !== undefined)
    throw new ConfigError(`${unused} needs metrics, and the setting metrics is false`, {
      hint: `set metrics to true, or remove ${unused}`,
    });
  for (const name of ["port", "health_port"] as const)
    if (own !== undefined && own !== 0 && own === settings[name])
      throw new ConfigError(`metrics_port and ${name} are both ${own}`, {
        hint: "choose another metrics_port: a second server listens on it",
      });
  if (key === undefined) return;
  if (settings.open_routes.includes("/metrics"))
    throw new ConfigError("metrics_key has no effect, because open_routes contains /metrics", {
      hint: "remove /metrics from open_routes, or remove metrics_key",
    });
  if (settings.api_keys?.some((entry) => (typeof entry === "string" ? entry : entry.key) === key))
    throw new ConfigError("metrics_key is also a key of api_keys, which allows every request", {
      hint: "choose another metrics_key",
    });
}

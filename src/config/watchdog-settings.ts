/** Settings of the thread that watches the event loop of `start` and `dev`. */
import { Type } from "../support/schema-builder.js";
import { ConfigError } from "../support/errors.js";

export const watchdogSettings = {
  stall_warning_seconds: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 3_600,
      default: 5,
      description:
        "Seconds that code can block the event loop before the log reports it with its run; 0 disables the watchdog.",
    }),
  ),
  stall_exit_seconds: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 86_400,
      default: 30,
      description:
        "Seconds that the event loop can be blocked before the process is killed, so that a supervisor restarts it; 0 never kills it.",
    }),
  ),
  health_port: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description:
        "Port of a second server for liveness probes; it answers /ok even while the event loop is blocked. Default: no second server.",
    }),
  ),
};

interface WatchdogSettings {
  port: number;
  stall_warning_seconds: number;
  stall_exit_seconds: number;
  health_port?: number;
}

/** @throws ConfigError if the settings contradict each other (`config_invalid`) */
export function assertWatchdog(settings: WatchdogSettings): void {
  const { port, stall_warning_seconds: warning, stall_exit_seconds: exit, health_port } = settings;
  if (health_port !== undefined && health_port !== 0 && health_port === port)
    throw new ConfigError(`health_port and port are both ${port}`, {
      hint: "choose another health_port: a second server listens on it",
    });
  if (health_port !== undefined && warning === 0)
    throw new ConfigError("health_port needs the watchdog, and stall_warning_seconds 0 disables it", {
      hint: "remove health_port, or set stall_warning_seconds to 5",
    });
  if (warning > 0 && exit > 0 && exit < warning)
    throw new ConfigError(
      `stall_exit_seconds is ${exit}, which is less than stall_warning_seconds, ${warning}`,
      { hint: "set stall_exit_seconds to the same or more, or to 0 to never kill the process" },
    );
}

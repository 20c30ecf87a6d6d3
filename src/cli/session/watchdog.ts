/** The event loop watchdog of a command that executes graphs and owns its process. */
import type { Settings } from "../../config/settings.js";
import { silentLogger } from "../../support/log.js";
import { IS_BUILT } from "../../support/own-package.js";
import type { Watchdog, WatchdogOptions } from "../../support/watchdog/watchdog.js";
import type { CliIo } from "../terminal/io.js";

/** Log format and observers of a command. */
type Observing = Pick<WatchdogOptions, "observers"> & { format: "json" | "text"; serves?: boolean };

let isWatched = false;

/**
 * Watches a command that executes graphs, but does not serve: the code that blocks it is reported, and signals then end
 * the command, whose own listeners cannot run. It is not killed: only its user waits for it. Ends with the process.
 */
export async function watchCommand(io: CliIo, settings: Settings): Promise<void> {
  if (isWatched) return;
  isWatched = true;
  const own = { ...settings, stall_exit_seconds: 0, health_port: undefined };
  const observers = { logger: silentLogger };
  await new ProcessWatch(io).begin(own, { observers, format: "text", serves: false });
}

export class ProcessWatch {
  readonly #io: CliIo;
  #watchdog: Watchdog | undefined;

  constructor(io: CliIo) {
    this.#io = io;
  }

  /** URL of the health endpoint; undefined if `health_port` is not set. */
  get healthUrl(): string | undefined {
    return this.#watchdog?.healthUrl;
  }

  /**
   * Starts to watch the event loop as configured. Does nothing if disabled, or if a test replaces the process, because
   * the watchdog logs to the real stderr.
   * @throws ConfigError if `health_port` is not available (`config_invalid`)
   */
  async begin(settings: Settings, { observers, format, serves = true }: Observing): Promise<void> {
    await this.close();
    const { stall_warning_seconds, stall_exit_seconds, health_port, host, log_level } = settings;
    const { log_level_format, log_time_format } = settings;
    // Node cannot load the TypeScript sources in a thread.
    if (stall_warning_seconds === 0 || !IS_BUILT || this.#io.stderr !== process.stderr) return;
    const { Watchdog } = await import("../../support/watchdog/watchdog.js");
    this.#watchdog = await Watchdog.start({
      ...{ stall_warning_seconds, stall_exit_seconds, health_port, host, observers, serves },
      ...{ format: log_level === "silent" ? ("none" as const) : format, log_level_format, log_time_format },
    });
  }

  /** Kills the process if it has not exited after `seconds`, even if its event loop is blocked. */
  endWithin(seconds: number): void {
    this.#watchdog?.endWithin(seconds);
  }

  async close(): Promise<void> {
    await this.#watchdog?.close();
    this.#watchdog = undefined;
  }
}

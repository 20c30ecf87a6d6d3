/** The watchdog of a command that serves, and has its process to itself. */
import type { Settings } from "../../config/settings.js";
import type { Watchdog, WatchdogOptions } from "../../support/watchdog/watchdog.js";
import type { CliIo } from "../terminal/io.js";

/** Node does not load the sources of this package in a thread. */
const IS_BUILT = import.meta.url.endsWith(".js");

/** How a command logs. */
type Observing = Pick<WatchdogOptions, "observers"> & { format: "json" | "text" };

export class ProcessWatch {
  readonly #io: CliIo;
  #watchdog: Watchdog | undefined;

  constructor(io: CliIo) {
    this.#io = io;
  }

  /** Where probes are answered; undefined where the settings name no port. */
  get healthUrl(): string | undefined {
    return this.#watchdog?.healthUrl;
  }

  /**
   * Watch the event loop from now on, as these settings say. Does nothing where they ask for that, or where a test
   * stands in for the process: what is logged goes to the process's own stderr.
   * @throws ConfigError when `health_port` cannot be listened on (`config_invalid`)
   */
  async begin(settings: Settings, { observers, format }: Observing): Promise<void> {
    await this.close();
    const { stall_warning_seconds, stall_exit_seconds, health_port, host, log_level } = settings;
    if (stall_warning_seconds === 0 || !IS_BUILT || this.#io.stderr !== process.stderr) return;
    const { Watchdog } = await import("../../support/watchdog/watchdog.js");
    this.#watchdog = await Watchdog.start({
      ...{ stall_warning_seconds, stall_exit_seconds, health_port, host, observers },
      format: log_level === "silent" ? "none" : format,
    });
  }

  /** Kill the process when it has not ended after so many seconds, though its event loop is stalled. */
  endWithin(seconds: number): void {
    this.#watchdog?.endWithin(seconds);
  }

  async close(): Promise<void> {
    await this.#watchdog?.close();
    this.#watchdog = undefined;
  }
}

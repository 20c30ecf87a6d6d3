/** One of several server processes of `start --processes`, on the side of the process itself. */
import type { Settings } from "../../config/settings.js";
import type { Metrics } from "../../support/metrics.js";
import type { CliIo } from "../terminal/io.js";
import {
  isOwnMessage,
  type PrimaryMessage,
  type ProcessMessage,
  type Seat,
  SEAT_VARIABLE,
} from "./messages.js";

export class Member {
  readonly seat: Seat;
  readonly #collecting = new Map<number, (texts: readonly string[]) => void>();
  #collections = 0;
  #ownMetrics: (() => Promise<string>) | undefined;

  private constructor(seat: Seat) {
    this.seat = seat;
  }

  /** This process as a member; undefined unless `start --processes` started it. */
  static async join({ env }: CliIo): Promise<Member | undefined> {
    const text = env[SEAT_VARIABLE];
    if (text === undefined || !process.send) return undefined;
    // Programs that graphs start are not members.
    delete process.env[SEAT_VARIABLE];
    const { default: cluster } = await import("node:cluster");
    // Otherwise Node exits the process immediately if the primary dies.
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
    return new Member(JSON.parse(text) as Seat);
  }

  /** Calls `stop` with the reason if the primary shuts down or has died. */
  listen(stop: (reason: string) => void): void {
    process.on("message", (message: unknown) => {
      if (isOwnMessage(message)) this.#receive(message as PrimaryMessage, stop);
    });
    process.once("disconnect", () => {
      stop("the primary process has ended");
      for (const resolve of this.#collecting.values()) resolve([]);
    });
  }

  /** The watchdog answers only to the primary, which answers at `health_port`. */
  watchSettings(settings: Settings): Settings {
    return settings.health_port === undefined ? settings : { ...settings, health_port: 0, host: "127.0.0.1" };
  }

  /** The probe server of this process listens; the primary combines those of all processes. */
  watched(health: string | undefined): void {
    if (health !== undefined) this.#send({ graphServe: "watched", health });
  }

  listening(url: string): void {
    this.#send({ graphServe: "listening", url });
  }

  /** Serves the metrics of all processes from each of them. */
  shareMetrics(metrics: Metrics | undefined): void {
    this.#ownMetrics = metrics?.joinProcesses(
      this.seat.number,
      () =>
        new Promise((resolve) => {
          const id = (this.#collections += 1);
          this.#collecting.set(id, resolve);
          this.#send({ graphServe: "collect", id });
        }),
    );
  }

  #receive(message: PrimaryMessage, stop: (reason: string) => void): void {
    switch (message.graphServe) {
      case "stop":
        stop(message.reason);
        break;
      case "collected":
        this.#collecting.get(message.id)?.(message.texts);
        this.#collecting.delete(message.id);
        break;
      case "report":
        void this.#report(message.id);
        break;
    }
  }

  async #report(id: number): Promise<void> {
    this.#send({ graphServe: "metrics", id, text: (await this.#ownMetrics?.()) ?? "" });
  }

  #send(message: ProcessMessage): void {
    // The primary may have died.
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  }
}

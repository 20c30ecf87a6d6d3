/** Messages between the primary process, which owns the port, and the server processes that it starts. */

/** Variable of a server process: its `Seat` as JSON. */
export const SEAT_VARIABLE = "GRAPH_SERVE_PROCESS_SEAT";

/** The place of a server process among all; its successor after a crash gets the same. */
export interface Seat {
  /** 1, 2, … */
  number: number;
  /** The port of all processes, also if the setting `port` is 0. */
  port: number;
}

/** To the primary. */
export type ProcessMessage =
  | { graphServe: "watched"; health: string }
  | { graphServe: "listening"; url: string }
  /** Requests the metrics of all processes. */
  | { graphServe: "collect"; id: number }
  | { graphServe: "metrics"; id: number; text: string };

/** From the primary. */
export type PrimaryMessage =
  | { graphServe: "stop"; reason: string }
  | { graphServe: "collected"; id: number; texts: readonly string[] }
  | { graphServe: "report"; id: number };

/** Graphs can exchange messages with other processes too. */
export function isOwnMessage(message: unknown): message is ProcessMessage | PrimaryMessage {
  return typeof message === "object" && message !== null && "graphServe" in message;
}

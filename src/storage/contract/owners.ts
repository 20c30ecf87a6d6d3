/** Processes that execute runs, and their table. */

/**
 * A server process. If the owner of an unfinished run is dead, the run was interrupted and is recovered.
 * @example
 * ```ts
 * import { hostname } from "node:os";
 * import type { Owner } from "graph-serve";
 * import { storage } from "./storage.js";
 *
 * const owner: Owner = {
 *   id: "process-1",
 *   host: hostname(),
 *   pid: process.pid,
 *   seen_at: new Date().toISOString(),
 * };
 * await storage.owners.beat(owner);
 * ```
 */
export interface Owner {
  /** Unique per process start. */
  id: string;
  host: string;
  /** Process id on the host. */
  pid: number;
  /** Time of the last heartbeat, ISO 8601. */
  seen_at: string;
}

/**
 * The table of server processes.
 * @example
 * ```ts
 * import type { OwnerTable } from "graph-serve";
 * import { storage } from "./storage.js";
 *
 * const owners: OwnerTable = storage.owners;
 * await owners.beat({ id: "process-2", host: "server-1", pid: 4711, seen_at: new Date().toISOString() });
 * await owners.remove("process-2");
 * ```
 */
export interface OwnerTable {
  /** Store a heartbeat: insert or update the row of this process. */
  beat(owner: Owner): Promise<void>;
  /** Delete an owner. Its unfinished runs then count as interrupted. */
  remove(ownerId: string): Promise<void>;
}

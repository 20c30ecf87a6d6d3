/** Which server processes are alive, according to their heartbeats. */
import { hostname } from "node:os";
import { StorageUnavailableError } from "../../support/errors.js";
import type { Owner } from "../contract/owners.js";
import { now } from "./rows.js";

/** An owner that sent no heartbeat for this long is dead, on any host. In milliseconds. */
const SILENT_MS = 30_000;

/** This process as an owner, with a current heartbeat. */
export const ownerOf = (id: string): Owner => ({ id, host: hostname(), pid: process.pid, seen_at: now() });

/** Whether the process that owns a run is dead. `self` is this process. */
export function isDead(owner: Owner | undefined, self: Owner, at = Date.now()): boolean {
  if (!owner) return true;
  if (owner.id === self.id) return false;
  if (at - Date.parse(owner.seen_at) > SILENT_MS) return true;
  if (owner.host !== self.host) return false;
  // In a container, every process may have pid 1. An owner with our pid is a predecessor or shares this process.
  if (owner.pid === self.pid) return Date.parse(owner.seen_at) < performance.timeOrigin;
  return !isProcessAlive(owner.pid);
}

function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Owner of delayed runs in earlier releases. */
export const DELAYED_OWNER = "waits for its time";

/**
 * Checks that no process of an earlier release uses the storage: it could not read or write the migrated runs.
 * @throws StorageUnavailableError if one does (`storage_unavailable`)
 */
export function assertStopped(owners: readonly Owner[]): void {
  const self = ownerOf("");
  const running = owners.filter((owner) => owner.id !== DELAYED_OWNER && !isDead(owner, self));
  if (running.length === 0) return;
  const places = running.map(({ host, pid }) => `pid ${pid} on ${host}`).join(", ");
  throw new StorageUnavailableError(
    `the runs cannot be migrated while processes of an earlier release use the storage: ${places}`,
    { hint: "stop them, then start this release; a process that crashed counts for 30 seconds" },
  );
}

import type { Thread, TtlRequest } from "../models/thread.js";
import type { ThreadRow } from "../storage/storage.js";

const MINUTE_MS = 60_000;

/** The stored form of a requested time to live: minutes, strategy `delete` unless said otherwise. */
export function ttlOf(request: TtlRequest | null | undefined): ThreadRow["ttl"] {
  if (request == null) return null;
  if (typeof request === "number") return { strategy: "delete", ttl_minutes: request };
  if (request.ttl == null) return null;
  return { strategy: request.strategy ?? "delete", ttl_minutes: request.ttl };
}

/** A thread's time to live as clients see it: it ends so many minutes after the thread's last update. */
export function ttlModel(row: ThreadRow): Thread["ttl"] {
  if (!row.ttl) return null;
  const expiresAt = new Date(Date.parse(row.updated_at) + row.ttl.ttl_minutes * MINUTE_MS);
  return { ...row.ttl, expires_at: expiresAt.toISOString() };
}

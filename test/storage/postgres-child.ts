/** A child process on a schema: `postgres-child.ts <options as JSON>`. Executes the commands of its parent. */
import { openStorage } from "../../src/storage/open.js";
import type { ThreadLease } from "../../src/storage/contract/locks.js";
import type { StorageOptions } from "../../src/storage/contract/storage.js";

export interface Order {
  acquire?: string;
  release?: string;
  close?: true;
}

const storage = await openStorage(JSON.parse(process.argv[2] ?? "") as StorageOptions);
const leases = new Map<string, ThreadLease>();
const tell = (news: string) => void process.send?.(news);

async function obey({ acquire, release, close }: Order): Promise<void> {
  if (acquire !== undefined) {
    const lease = await storage.locks.acquire(acquire, { wait: true });
    if (lease) leases.set(acquire, lease);
    tell(`acquired ${acquire}`);
  }
  if (release !== undefined) {
    await leases.get(release)?.release();
    tell(`released ${release}`);
  }
  if (close) {
    await storage.close();
    process.disconnect();
  }
}

process.on("message", (order: Order) => void obey(order));
process.once("disconnect", () => process.exit());
tell("open");

/** Checkpoints from the rows that hold them. */
import {
  type Checkpoint,
  type CheckpointTuple,
  type SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import { addSends } from "./pending-sends.js";
import type { CheckpointRow } from "./postgres-saver-sql.js";

type Write = NonNullable<CheckpointTuple["pendingWrites"]>[number];

/** The checkpoints of a page in its order, whole. */
export async function tuplesOf(
  rows: readonly CheckpointRow[],
  serde: SerializerProtocol,
): Promise<CheckpointTuple[]> {
  const parts = new Map<string, CheckpointRow[]>();
  for (const row of rows) {
    const key = keyOf(row.kind, row, row.kind === "value" ? row.channel : row.checkpoint_id, row);
    const found = parts.get(key);
    if (found) found.push(row);
    else parts.set(key, [row]);
  }
  const page = rows.filter((row) => row.kind === "checkpoint").sort(byPlace);
  const tuples: CheckpointTuple[] = [];
  for (const row of page) tuples.push(await tupleOf(row, parts, serde));
  return tuples;
}

type Parts = ReadonlyMap<string, CheckpointRow[]>;
type Place = Pick<CheckpointRow, "thread_id" | "checkpoint_ns">;

const keyOf = (
  kind: CheckpointRow["kind"],
  { thread_id, checkpoint_ns }: Place,
  name: string | null,
  { detail }: Pick<CheckpointRow, "detail">,
) => JSON.stringify([kind, thread_id, checkpoint_ns, name, kind === "value" ? detail : ""]);

const byPlace = (a: CheckpointRow, b: CheckpointRow) => (a.place ?? 0) - (b.place ?? 0);
const byTask = (a: CheckpointRow, b: CheckpointRow) =>
  compare(a.detail ?? "", b.detail ?? "") || byPlace(a, b);
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

async function tupleOf(
  row: CheckpointRow,
  parts: Parts,
  serde: SerializerProtocol,
): Promise<CheckpointTuple> {
  const { thread_id, checkpoint_ns, checkpoint_id, detail: parent } = row;
  const stored = JSON.parse(row.checkpoint ?? "{}") as Checkpoint;
  const channel_versions = stored.channel_versions ?? {};
  const writes = (parts.get(keyOf("write", row, checkpoint_id, row)) ?? []).sort(byTask);
  const [metadata, channel_values, pendingWrites] = await Promise.all([
    serde.loadsTyped("json", row.type ?? "{}") as Promise<CheckpointTuple["metadata"]>,
    loadValues(row, channel_versions, parts, serde),
    Promise.all(
      writes.map(async (write): Promise<Write> => {
        return [write.detail ?? "", write.channel ?? "", await load(write, serde)];
      }),
    ),
  ]);
  const checkpoint = {
    ...stored,
    channel_versions,
    versions_seen: stored.versions_seen ?? {},
    channel_values,
  };
  const sends = parent === null ? undefined : parts.get(keyOf("send", row, parent, row));
  if (sends && stored.v < 4)
    addSends(checkpoint, await Promise.all(sends.sort(byTask).map((send) => load(send, serde))));
  const at = (id: string | null) => ({ configurable: { thread_id, checkpoint_ns, checkpoint_id: id } });
  return {
    config: at(checkpoint_id),
    checkpoint,
    metadata,
    parentConfig: parent === null ? undefined : at(parent),
    pendingWrites,
  };
}

async function loadValues(
  row: CheckpointRow,
  versions: Checkpoint["channel_versions"],
  parts: Parts,
  serde: SerializerProtocol,
): Promise<Record<string, unknown>> {
  const values = await Promise.all(
    Object.entries(versions).map(async ([channel, version]) => {
      const [value] = parts.get(keyOf("value", row, channel, { detail: String(version) })) ?? [];
      return value ? [[channel, await load(value, serde)] as const] : [];
    }),
  );
  return Object.fromEntries(values.flat());
}

function load({ type, blob }: CheckpointRow, serde: SerializerProtocol): Promise<unknown> {
  const data = blob ?? new Uint8Array();
  // Bytes are handed on as they are: what went in was no Buffer.
  return serde.loadsTyped(type ?? "json", type === "bytes" ? new Uint8Array(data) : data) as Promise<unknown>;
}

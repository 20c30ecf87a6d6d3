/** How checkpoints, their channel values and their pending writes are kept: a line that says what follows, then bytes. */
import type { ChannelVersions, SerializerProtocol } from "@langchain/langgraph-checkpoint";

const NEW_LINE = 0x0a;

/** `head` as a line of JSON, then `body`. */
export function pack(head: unknown, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
}

export function unpack<Head>(record: Buffer): { head: Head; body: Uint8Array } {
  const end = record.indexOf(NEW_LINE);
  return {
    head: JSON.parse(record.toString("utf8", 0, end)) as Head,
    body: new Uint8Array(record.subarray(end + 1)),
  };
}

export async function packValue(serde: SerializerProtocol, value: unknown): Promise<Buffer> {
  return pack(...(await serde.dumpsTyped(value)));
}

export async function unpackValue(serde: SerializerProtocol, record: Buffer): Promise<unknown> {
  const { head: type, body } = unpack<string>(record);
  return (await serde.loadsTyped(type, body)) as unknown;
}

/**
 * Where a checkpoint finds the value of a channel: in the checkpoint that wrote it. Versions alone do not tell values
 * apart: two forks of one checkpoint give the same number to different values.
 */
export interface ValueRef {
  channel: string;
  version: ChannelVersions[string];
  /** Checkpoint that wrote it. */
  id: string;
}

export const fieldOf = ({ channel, id }: Pick<ValueRef, "channel" | "id">): string =>
  JSON.stringify([channel, id]);

export const writeRefs = (refs: readonly ValueRef[]): string => JSON.stringify(refs);

export const readRefs = (text: Buffer | string | null | undefined): ValueRef[] =>
  text ? (JSON.parse(text.toString()) as ValueRef[]) : [];

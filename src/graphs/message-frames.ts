/** The `messages` stream mode: whole messages as they grow, made from LangGraph's message chunks. */
import type { BaseMessageChunk } from "@langchain/core/messages";
import { isRecord } from "../models/common.js";
import { isMessage, toJson } from "./serialize.js";

/** Takes one event: its name and its data as one line of JSON. */
export type EventSink = (event: string, data: string) => void;

type Chunk = BaseMessageChunk & { id?: string };

const isChunk = (message: unknown): message is Chunk =>
  isMessage(message) && typeof (message as { concat?: unknown }).concat === "function";

export class MessageFrames {
  readonly #sink: EventSink;
  /** Messages that are still growing, by id. */
  readonly #growing = new Map<string, Chunk>();
  readonly #announced = new Set<string>();
  readonly #completed = new Set<string>();

  constructor(sink: EventSink) {
    this.#sink = sink;
  }

  /** A chunk of a message, or a whole message that a node returned. */
  chunk(suffix: string, message: unknown, metadata: unknown): void {
    if (!isMessage(message) || typeof message.id !== "string") return;
    const { id } = message;
    if (!this.#announced.has(id)) {
      this.#announced.add(id);
      this.#sink(`messages/metadata${suffix}`, toJson({ [id]: { metadata } }));
    }
    if (isChunk(message)) this.#grow(suffix, id, message);
    else this.#complete(suffix, [message]);
  }

  #grow(suffix: string, id: string, chunk: Chunk): void {
    const before = this.#growing.get(id);
    const whole = before ? (before.concat(chunk) as Chunk) : chunk;
    this.#growing.set(id, whole);
    this.#sink(`messages/partial${suffix}`, toJson([whole]));
  }

  /** Values after a superstep: messages seen there for the first time are complete. */
  values(values: unknown): void {
    const messages = isRecord(values) ? values.messages : values;
    if (Array.isArray(messages)) this.#complete("", messages);
  }

  #complete(suffix: string, messages: readonly unknown[]): void {
    const fresh = messages.filter((message) => {
      if (!isMessage(message) || typeof message.id !== "string" || this.#completed.has(message.id))
        return false;
      this.#completed.add(message.id);
      this.#growing.delete(message.id);
      return true;
    });
    if (fresh.length > 0) this.#sink(`messages/complete${suffix}`, toJson(fresh));
  }
}

/** A callback handler that records all events, with names in place of ids. */
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";

export interface HeardEvent {
  event: string;
  /** Names of the enclosing runs, from the root. */
  path: string[];
  tags?: unknown;
  metadata?: unknown;
}

/** Values that differ between runs. */
const isOwnToRun = (key: string) => /^(thread_id|run_id|.*checkpoint_ns|__pregel_.*)$/.test(key);

class Watched extends BaseCallbackHandler {
  override name = "watched";
  override awaitHandlers = true;
  readonly heard: HeardEvent[] = [];
  readonly #paths = new Map<string, string[]>();

  override handleChainStart(...[, , id, parent, tags, metadata, , name]: Start<"handleChainStart">): void {
    this.#start("chain start", id, parent, name, tags, metadata);
  }

  override handleChainEnd(_: unknown, id: string): void {
    this.#note("chain end", id);
  }

  override handleChatModelStart(
    ...[, , id, parent, , tags, metadata, name]: Start<"handleChatModelStart">
  ): void {
    this.#start("chat model start", id, parent, name ?? "model", tags, metadata);
  }

  override handleLLMEnd(_: unknown, id: string): void {
    this.#note("model end", id);
  }

  override handleToolStart(...[, , id, parent, tags, metadata, name]: Start<"handleToolStart">): void {
    this.#start("tool start", id, parent, name, tags, metadata);
  }

  override handleToolEnd(_: unknown, id: string): void {
    this.#note("tool end", id);
  }

  override handleCustomEvent(name: string, _: unknown, id: string): void {
    this.#note(`custom ${name}`, id);
  }

  #start(
    event: string,
    id: string,
    parent: string | undefined,
    name = "?",
    tags?: string[],
    metadata: Record<string, unknown> = {},
  ): void {
    const above = parent === undefined ? [] : (this.#paths.get(parent) ?? ["unknown"]);
    this.#paths.set(id, [...above, name]);
    const plain = Object.entries(metadata).filter(([key]) => !isOwnToRun(key));
    this.#note(event, id, { tags: [...(tags ?? [])].sort(), metadata: Object.fromEntries(plain) });
  }

  #note(event: string, id: string, more: Partial<HeardEvent> = {}): void {
    this.heard.push({ event, path: this.#paths.get(id) ?? [], ...more });
  }
}

type Start<Method extends "handleChainStart" | "handleChatModelStart" | "handleToolStart"> = Parameters<
  NonNullable<BaseCallbackHandler[Method]>
>;

export const watched = (): Watched => new Watched();

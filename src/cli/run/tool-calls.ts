/** Calls of tools, put together from the messages of a stream: who calls says it in pieces, what comes back says it once. */
import { isRecord } from "../../models/common.js";
import { contentText } from "../../view/text.js";

/** A message of the stream, whole or a piece of one. */
export interface StreamedMessage {
  id?: string;
  type?: string;
  content?: unknown;
  tool_calls?: unknown;
  tool_call_chunks?: unknown;
  tool_call_id?: unknown;
  name?: unknown;
  status?: unknown;
}

interface Call {
  name: string;
  /** JSON, as far as it has come. */
  args: string;
}

export interface AnsweredCall extends Call {
  /** Undefined for a call that has no answer yet. */
  result?: string;
  failed: boolean;
}

export class ToolCalls {
  /** Calls without an answer, by their ids. */
  readonly #open = new Map<string, Call>();
  /** Ids of calls whose arguments come in pieces, by message and place in it. */
  readonly #growing = new Map<string, string>();

  /** Id of the call that a tool message answers; undefined for other messages. */
  take(message: StreamedMessage): AnsweredCall | undefined {
    if (message.type === "tool") return this.#answer(message);
    const pieces = listOf(message.tool_call_chunks);
    for (const piece of pieces) this.#grow(String(message.id), piece);
    if (pieces.length > 0) return undefined;
    for (const { id, name, args } of listOf(message.tool_calls))
      if (typeof id === "string")
        this.#open.set(id, { name: String(name), args: JSON.stringify(args ?? {}) });
    return undefined;
  }

  /** Unanswered calls, each reported once. */
  unanswered(): AnsweredCall[] {
    const open = [...this.#open.values()].map((call) => ({ ...call, failed: false }));
    this.#open.clear();
    return open;
  }

  #grow(messageId: string, { id, name, args, index }: Record<string, unknown>): void {
    const place = `${messageId} ${String(index)}`;
    if (typeof id === "string" && id !== "") {
      this.#growing.set(place, id);
      this.#open.set(id, { name: typeof name === "string" ? name : "tool", args: "" });
    }
    const call = this.#open.get(this.#growing.get(place) ?? "");
    if (call && typeof args === "string") call.args += args;
  }

  #answer({ tool_call_id, name, content, status }: StreamedMessage): AnsweredCall {
    const id = String(tool_call_id);
    const call = this.#open.get(id) ?? { name: typeof name === "string" ? name : "tool", args: "" };
    this.#open.delete(id);
    const result = contentText(content) || (JSON.stringify(content) ?? "");
    return { ...call, result, failed: status === "error" };
  }
}

const listOf = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

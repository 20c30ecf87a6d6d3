/** Assembles tool calls from streamed messages: arguments arrive in chunks, results in one message. */
import { isRecord } from "../../models/common.js";
import { contentText } from "../../view/text.js";

/** A streamed message or message chunk. */
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
  /** JSON received so far. */
  args: string;
}

export interface AnsweredCall extends Call {
  /** Undefined if the call has no result yet. */
  result?: string;
  failed: boolean;
}

export class ToolCalls {
  /** Calls without a result, by id. */
  readonly #open = new Map<string, Call>();
  /** Ids of calls with incomplete arguments, by message and index in it. */
  readonly #growing = new Map<string, string>();

  /** The finished call if the message is a tool result; otherwise undefined. */
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

  /** Calls without a result; each is returned only once. */
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

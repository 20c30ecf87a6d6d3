/** A conversation: messages, and tool calls with their results. */
import { useMemo } from "preact/hooks";
import { isRecord } from "../../src/models/json.js";
import { contentText } from "../../src/view/text.js";
import type { Call, Entry } from "../state/run-view.js";
import { strings } from "../strings.js";
import { Content, type MessageLike } from "./message.js";
import { markdown, Prose } from "./prose.js";
import { jsonText, LongText, msText, visible } from "./text.js";

const MOST_ENTRIES = 100;

export function Chat({
  entries,
  most,
  showMore,
}: {
  entries: readonly Entry[];
  most: number;
  showMore: () => void;
}) {
  const first = Math.max(0, entries.length - most);
  return (
    <div class="chat" role="log" aria-label={strings.runs.conversation}>
      {first > 0 && (
        <button type="button" class="link" onClick={showMore}>
          {strings.messages.earlier(first)}
        </button>
      )}
      {entries.slice(first).map((entry) => (
        <Said key={entry.id} entry={entry} />
      ))}
    </div>
  );
}
Chat.most = MOST_ENTRIES;

/** Memoized: a growing message must not render the rest of a long conversation again. */
function Said({ entry }: { entry: Entry }) {
  return useMemo(() => <EntryView entry={entry} />, [entry, markdown.value]);
}

function EntryView({ entry: { message, calls, isGrowing, isCutOff, within } }: { entry: Entry }) {
  const { type } = message;
  const kind = ["human", "ai", "tool", "system"].includes(type) ? type : "other";
  const shown = (
    <article class={`said is-${kind}`} aria-busy={isGrowing}>
      <Head message={message} isCutOff={isCutOff} />
      <Reasoning message={message} />
      {kind === "ai" || kind === "human" ? <Text message={message} /> : <Content content={message.content} />}
      {calls.map((call, index) => (
        <ToolCard key={call.id || index} call={call} />
      ))}
    </article>
  );
  if (within === undefined) return shown;
  return (
    <details class="aside">
      <summary class="dim">{strings.runs.said(visible(within))}</summary>
      {shown}
    </details>
  );
}

interface HeadProps {
  message: MessageLike;
  isCutOff: boolean;
}

function Head({ message: { type, name, status }, isCutOff }: HeadProps) {
  return (
    <header>
      <strong>{visible(type)}</strong>
      {typeof name === "string" && <span class="dim">{visible(name)}</span>}
      {status === "error" && <span class="bad">{strings.status.error}</span>}
      {isCutOff && <span class="badge">{strings.runs.cutOff}</span>}
    </header>
  );
}

/** Reasoning of a model, which providers send in `additional_kwargs` or as content blocks. */
function Reasoning({ message: { content, additional_kwargs: more } }: { message: MessageLike }) {
  const beside = isRecord(more) && typeof more.reasoning_content === "string" ? more.reasoning_content : "";
  const text = [beside, ...blocksOf(content).map(thoughtOf)].filter(Boolean).join("\n\n");
  if (text === "") return null;
  return (
    <details class="thoughts">
      <summary class="dim">{strings.runs.thoughts}</summary>
      <LongText class="prose" text={text} />
    </details>
  );
}

const blocksOf = (content: unknown): Record<string, unknown>[] =>
  Array.isArray(content) ? content.filter(isRecord) : [];

function thoughtOf({ thinking, reasoning, summary }: Record<string, unknown>): string {
  const thought = thinking ?? reasoning;
  if (typeof thought === "string") return thought;
  return Array.isArray(summary) ? contentText(summary) : "";
}

function Text({ message: { content } }: { message: MessageLike }) {
  if (typeof content === "string") return content === "" ? null : <Prose text={content} />;
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  return (
    <>
      {blocks.filter(isSaid).map((block, index) => {
        const text = contentText([block]);
        return text === "" ? <Content key={index} content={[block]} /> : <Prose key={index} text={text} />;
      })}
    </>
  );
}

/** Reasoning and tool calls are rendered separately. */
const isSaid = (block: unknown): boolean =>
  !isRecord(block) ||
  (thoughtOf(block) === "" &&
    !["tool_use", "tool_call", "function_call", "tool_call_chunk", "input_json_delta", "reasoning"].includes(
      String(block.type),
    ));

function ToolCard({ call }: { call: Call }) {
  const { name, args, state, result } = call;
  const outcome = outcomeOf(call);
  return (
    <section class={`tool is-${outcome}`} aria-label={`${strings.messages.calls} ${visible(name)}`}>
      <header>
        <code>{visible(name)}</code>
        <span class={`badge is-${outcome}`}>{strings.runs.call[outcome]}</span>
        {state?.ms !== undefined && <span class="dim small-text">{msText(state.ms)}</span>}
      </header>
      <p class="dim small-text">{strings.runs.call.arguments}</p>
      <LongText class="code" text={typeof args === "string" ? args : jsonText(args)} most={2000} />
      {result && (
        <>
          <p class={`small-text ${outcome === "failed" ? "bad" : "dim"}`}>
            {outcome === "failed" ? strings.runs.call.error : strings.runs.call.result}
          </p>
          <Content content={result.content} class={outcome === "failed" ? "bad" : ""} />
        </>
      )}
      {!result && state?.error !== undefined && <LongText class="code bad" text={state.error} most={2000} />}
    </section>
  );
}

function outcomeOf({ state, result }: Call): "asked" | "running" | "done" | "failed" {
  if (result) return result.status === "error" ? "failed" : "done";
  return state?.state ?? "asked";
}

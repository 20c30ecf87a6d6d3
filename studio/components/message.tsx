/** A message with its role, content and tool calls. HTML in the content never becomes markup. */
import { isRecord } from "../../src/models/json.js";
import { fileOf } from "../state/files.js";
import type { MessageLike } from "../state/frame.js";
import { strings } from "../strings.js";
import { FileInMessage } from "./file.js";
import { messageTokens } from "./prices.js";
import { Prose } from "./prose.js";
import { jsonText, LongText, MOST, visible } from "./text.js";

export type { MessageLike };

const KNOWN = new Set(["human", "ai", "tool", "system"]);
/** Messages in Markdown, as in the conversation. */
const IN_MARKDOWN = new Set(["human", "ai"]);

interface MessageProps {
  message: MessageLike;
  /** Text about the call that returned the message. */
  cost?: string | undefined;
}

export function Message({ message, cost }: MessageProps) {
  const { type, name, id, content } = message;
  const tokens = messageTokens(message);
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isRecord) : [];
  return (
    <article class={`message is-${KNOWN.has(type) ? type : "other"}`}>
      <header>
        <strong>{visible(type)}</strong>
        {typeof name === "string" && <span>{visible(name)}</span>}
        {message.status === "error" && <span class="bad">{strings.status.error}</span>}
        {typeof id === "string" && <code class="dim id">{visible(id)}</code>}
        {tokens && (
          <span class="dim tokens-of">
            {[strings.times.tokens(tokens.total_tokens), cost].filter(Boolean).join(" · ")}
          </span>
        )}
      </header>
      <Content content={content} isMarkdown={IN_MARKDOWN.has(type)} />
      {calls.map((call, index) => (
        <div class="call" key={index}>
          <p>
            {strings.messages.calls} <code>{visible(String(call.name))}</code>
          </p>
          <LongText class="code" text={jsonText(call.args)} most={2000} />
        </div>
      ))}
    </article>
  );
}

interface ContentProps {
  content: unknown;
  class?: string;
  /** Otherwise text is shown as is. */
  isMarkdown?: boolean;
}

/** Message content, block by block. */
export function Content({ content, class: name = "", isMarkdown = false }: ContentProps) {
  if (typeof content === "string")
    return content === "" ? null : <Words class={name} text={content} isMarkdown={isMarkdown} />;
  if (!Array.isArray(content))
    return content == null ? null : <LongText class="code" text={jsonText(content)} />;
  return (
    <>
      {content.map((block: unknown, index) => (
        <Block key={index} block={block} isMarkdown={isMarkdown} />
      ))}
    </>
  );
}

function Words({
  text,
  class: name = "",
  isMarkdown,
}: {
  text: string;
  class?: string;
  isMarkdown: boolean;
}) {
  return isMarkdown ? <Prose text={text} most={MOST} /> : <LongText class={`prose ${name}`} text={text} />;
}

/** Only files embedded in the message: showing a page must not send a request to another host. */
function Block({ block, isMarkdown }: { block: unknown; isMarkdown: boolean }) {
  if (typeof block === "string") return <Words text={block} isMarkdown={isMarkdown} />;
  if (!isRecord(block)) return <LongText class="code" text={jsonText(block)} />;
  if (typeof block.text === "string") return <Words text={block.text} isMarkdown={isMarkdown} />;
  const thought = block.thinking ?? block.reasoning;
  if (typeof thought === "string") {
    return (
      <details>
        <summary class="dim">{visible(String(block.type))}</summary>
        <LongText class="prose" text={thought} />
      </details>
    );
  }
  const file = fileOf(block);
  if (file) return <FileInMessage file={file} />;
  return <LongText class="code" text={jsonText(block)} most={2000} />;
}

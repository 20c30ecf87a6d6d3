/** A message of a conversation: who says what, which tools are called with what. Nothing of it becomes markup. */
import { isRecord } from "../../src/models/json.js";
import { words } from "../words.js";
import { jsonText, LongText, visible } from "./text.js";

export interface MessageLike {
  type: string;
  content: unknown;
  [field: string]: unknown;
}

const KNOWN = new Set(["human", "ai", "tool", "system"]);
const PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,/;

export function Message({ message }: { message: MessageLike }) {
  const { type, name, id, content } = message;
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isRecord) : [];
  return (
    <article class={`message is-${KNOWN.has(type) ? type : "other"}`}>
      <header>
        <strong>{visible(type)}</strong>
        {typeof name === "string" && <span>{visible(name)}</span>}
        {message.status === "error" && <span class="bad">{words.status.error}</span>}
        {typeof id === "string" && <code class="dim id">{visible(id)}</code>}
      </header>
      <Content content={content} />
      {calls.map((call, index) => (
        <div class="call" key={index}>
          <p>
            {words.messages.calls} <code>{visible(String(call.name))}</code>
          </p>
          <LongText class="code" text={jsonText(call.args)} most={2000} />
        </div>
      ))}
    </article>
  );
}

function Content({ content }: { content: unknown }) {
  if (typeof content === "string") return content === "" ? null : <LongText class="prose" text={content} />;
  if (!Array.isArray(content))
    return content == null ? null : <LongText class="code" text={jsonText(content)} />;
  return (
    <>
      {content.map((block: unknown, index) => (
        <Block key={index} block={block} />
      ))}
    </>
  );
}

function Block({ block }: { block: unknown }) {
  if (typeof block === "string") return <LongText class="prose" text={block} />;
  if (!isRecord(block)) return <LongText class="code" text={jsonText(block)} />;
  if (typeof block.text === "string") return <LongText class="prose" text={block.text} />;
  const thought = block.thinking ?? block.reasoning;
  if (typeof thought === "string") {
    return (
      <details>
        <summary class="dim">{visible(String(block.type))}</summary>
        <LongText class="prose" text={thought} />
      </details>
    );
  }
  const picture = pictureOf(block);
  if (picture) return <img class="picture" src={picture} alt={visible(String(block.type))} />;
  return <LongText class="code" text={jsonText(block)} most={2000} />;
}

/** Only what lies in the message itself: a page that is shown must not tell anybody that it is. */
function pictureOf({ image_url: image }: Record<string, unknown>): string | undefined {
  const url = isRecord(image) ? image.url : image;
  return typeof url === "string" && PICTURE.test(url) ? url : undefined;
}

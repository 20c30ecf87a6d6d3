/** Renders Markdown tokens as elements, never as markup. HTML and unknown tokens are shown literally. */
import type { MarkedToken, Token, Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { markdownTokens } from "./markdown-tokens.js";
import { visible } from "./text.js";

const DEEPEST = 12;

export function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => markdownTokens(text), [text]);
  if (!tokens)
    return (
      <pre dir="auto" class="text prose">
        {visible(text)}
      </pre>
    );
  return <div class="markdown">{blocks(tokens, 0)}</div>;
}

const blocks = (tokens: readonly Token[] | undefined, depth: number): ComponentChildren =>
  tokens?.map((token, index) => <Block key={index} token={token as MarkedToken} depth={depth} />);

function Block({ token, depth }: { token: MarkedToken; depth: number }) {
  if (depth > DEEPEST) return <p>{visible(token.raw)}</p>;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      // Headings of a model's answer must not enter the outline of this page.
      return (
        <p dir="auto" class={`heading is-${token.depth}`}>
          {inline(token.tokens, depth)}
        </p>
      );
    case "paragraph":
      return <p dir="auto">{inline(token.tokens, depth)}</p>;
    case "blockquote":
      return <blockquote dir="auto">{blocks(token.tokens, depth + 1)}</blockquote>;
    case "code":
      return (
        <pre dir="ltr" class="text code" tabIndex={0}>
          {visible(token.text)}
        </pre>
      );
    case "hr":
      return <hr />;
    case "list":
      return <List token={token} depth={depth} />;
    case "table":
      return <Table token={token} depth={depth} />;
    case "text":
      return <>{"tokens" in token && token.tokens ? inline(token.tokens, depth) : visible(token.text)}</>;
    default:
      return <p>{visible(token.raw)}</p>;
  }
}

function List({ token, depth }: { token: Tokens.List; depth: number }) {
  const items = token.items.map((item, index) => <li key={index}>{blocks(item.tokens, depth + 1)}</li>);
  return token.ordered ? (
    <ol dir="auto" start={token.start === "" ? 1 : token.start}>
      {items}
    </ol>
  ) : (
    <ul dir="auto">{items}</ul>
  );
}

const sideOf = ({ align }: Tokens.TableCell): string | undefined => (align ? `is-${align}` : undefined);

function Table({ token, depth }: { token: Tokens.Table; depth: number }) {
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="table">
      <table dir="auto">
        <thead>
          <tr>
            {token.header.map((cell, index) => (
              <th key={index} class={sideOf(cell)}>
                {inline(cell.tokens, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, index) => (
                <td key={index} class={sideOf(cell)}>
                  {inline(cell.tokens, depth)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const inline = (tokens: readonly Token[] | undefined, depth: number): ComponentChildren =>
  tokens?.map((token, index) => <Inline key={index} token={token as MarkedToken} depth={depth + 1} />);

function Inline({ token, depth }: { token: MarkedToken; depth: number }) {
  if (depth > DEEPEST) return <>{visible(token.raw)}</>;
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens, depth)}</strong>;
    case "em":
      return <em>{inline(token.tokens, depth)}</em>;
    case "del":
      return <del>{inline(token.tokens, depth)}</del>;
    case "codespan":
      return <code dir="auto">{visible(token.text)}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link href={token.href}>{inline(token.tokens, depth)}</Link>;
    case "image":
      // Loading an image from another host would reveal that the message was read.
      return <Link href={token.href}>{visible(token.text || token.href)}</Link>;
    case "escape":
      return <>{visible(token.text)}</>;
    case "text":
      return <>{"tokens" in token && token.tokens ? inline(token.tokens, depth) : visible(token.text)}</>;
    case "checkbox":
      return <>{token.checked ? "☑ " : "☐ "}</>;
    default:
      return <>{visible(token.raw)}</>;
  }
}

const MAY_OPEN = new Set(["http:", "https:", "mailto:"]);

function Link({ href, children }: { href: string; children: ComponentChildren }) {
  if (!mayOpen(href)) return <>{children}</>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" title={visible(href)}>
      {children}
    </a>
  );
}

/** Absolute URLs only: a relative one would point into this page. */
function mayOpen(href: string): boolean {
  try {
    return MAY_OPEN.has(new URL(href).protocol);
  } catch {
    return false;
  }
}

/** Tokenizes untrusted Markdown within limits, because crafted input could block the page. */
import { Lexer, type Token } from "marked";

/** Longer texts are shown as plain text. */
const MOST = 100_000;
/** Limits of inline Markdown: parsing time can grow with the square of these. */
const MOST_INLINE = 5000;
const MOST_MARKS = 200;
const MARKS = /[*_~]+/g;

class BoundedLexer extends Lexer {
  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    const isShort = src.length <= MOST_INLINE && (src.match(MARKS) ?? []).length <= MOST_MARKS;
    if (isShort) return super.inlineTokens(src, tokens);
    tokens.push({ type: "text", raw: src, text: src, escaped: false });
    return tokens;
  }
}

/** Undefined if the text must be shown as plain text. */
export function markdownTokens(text: string): Token[] | undefined {
  if (text.length > MOST) return undefined;
  try {
    return new BoundedLexer().lex(text);
  } catch {
    // Nesting exceeded the call stack.
    return undefined;
  }
}

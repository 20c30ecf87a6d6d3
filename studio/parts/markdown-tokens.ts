/** The tokens of a text in Markdown, however it was made: some texts are made to stop who takes them apart. */
import { Lexer, type Token } from "marked";

/** Longer texts are shown as they are. */
const MOST = 100_000;
/** So are longer paragraphs, and those of more marks: what is made to be slow takes the square of these. */
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

/** Undefined for what is shown as it is. */
export function markdownTokens(text: string): Token[] | undefined {
  if (text.length > MOST) return undefined;
  try {
    return new BoundedLexer().lex(text);
  } catch {
    // It is nested deeper than the engine's stack.
    return undefined;
  }
}

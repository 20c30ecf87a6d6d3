/** Decorations of a JSON text: its tokens, the brackets at the cursor, and the place of a syntax error. */
import type { Range, Text } from "@codemirror/state";
import { Decoration, type DecorationSet, type EditorView } from "@codemirror/view";
import type { TextFault } from "../state/json-fault.js";

/** No token of JSON contains a line break, so each line is read by itself. */
const TOKEN =
  /(?<key>"(?:[^"\\]|\\.)*"(?=\s*:))|(?<string>"(?:[^"\\]|\\.)*"?)|(?<number>-?\d[\d.eE+-]*)|(?<word>\b(?:true|false|null)\b)|(?<bracket>[{}[\]])/g;
/** Longer lines, such as files in base64, are shown without colors. */
const LONGEST_LINE = 10_000;

interface Token {
  kind: string;
  from: number;
  to: number;
  text: string;
}

export const jsonMarks = (view: EditorView): DecorationSet => {
  const tokens = tokensInSight(view);
  const marks = tokens
    .filter(({ kind }) => kind !== "bracket")
    .map(({ kind, from, to }) => mark(`json-${kind}`, from, to));
  const pair = view.hasFocus ? pairAt(tokens, view.state.selection.main.head) : [];
  return Decoration.set([...marks, ...pair.map(({ from, to }) => mark("json-pair", from, to))], true);
};

/** Marks the line of the error, and its character unless the line ends there. */
export function faultMarks(doc: Text, { line, column }: TextFault): DecorationSet {
  if (line > doc.lines) return Decoration.none;
  const { from, to } = doc.line(line);
  const at = from + column - 1;
  const whole = Decoration.line({ class: "json-fault-line" }).range(from);
  return Decoration.set(at < to ? [whole, mark("json-fault", at, at + 1)] : [whole]);
}

const mark = (name: string, from: number, to: number): Range<Decoration> =>
  Decoration.mark({ class: name }).range(from, to);

function tokensInSight({ visibleRanges, state: { doc } }: EditorView): Token[] {
  const tokens: Token[] = [];
  let done = 0;
  for (const { from, to } of visibleRanges) {
    for (let at = Math.max(from, done); at <= to; at = done) {
      const line = doc.lineAt(at);
      if (line.length <= LONGEST_LINE) tokens.push(...tokensOf(line.text, line.from));
      done = line.to + 1;
    }
  }
  return tokens;
}

function tokensOf(text: string, start: number): Token[] {
  return [...text.matchAll(TOKEN)].map(({ 0: token, index, groups = {} }) => ({
    kind: Object.keys(groups).find((name) => groups[name] !== undefined) ?? "",
    from: start + index,
    to: start + index + token.length,
    text: token,
  }));
}

const CLOSING: Readonly<Record<string, string>> = { "{": "}", "[": "]" };

/** The bracket before or after the cursor and its counterpart, if both are in sight. */
function pairAt(tokens: readonly Token[], cursor: number): Token[] {
  const brackets = tokens.filter(({ kind }) => kind === "bracket");
  const at = brackets.find(({ to }) => to === cursor) ?? brackets.find(({ from }) => from === cursor);
  const open: Token[] = [];
  for (const bracket of at ? brackets : []) {
    if (bracket.text in CLOSING) {
      open.push(bracket);
      continue;
    }
    const start = open.pop();
    if (start !== at && bracket !== at) continue;
    return start && CLOSING[start.text] === bracket.text ? [start, bracket] : [];
  }
  return [];
}

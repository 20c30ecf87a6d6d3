/** Position of a JSON syntax error, which engines report differently or not at all. */

export interface TextFault {
  line: number;
  column: number;
}

const TOKEN =
  /[{}[\]:,]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const SPACE = /[ \t\r\n]*/y;

type Wanted = "value" | "value or ]" | "key" | "key or }" | ":" | ", or end";

/** Position of the first unexpected token, or the end of the text if something is missing. */
export function jsonFault(text: string): TextFault {
  const open: string[] = [];
  let wanted: Wanted = "value";
  let at = 0;
  for (;;) {
    SPACE.lastIndex = at;
    at += SPACE.exec(text)?.[0].length ?? 0;
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    const next: Wanted | undefined = token === undefined ? undefined : after(token, wanted, open);
    if (token === undefined || next === undefined) return placeOf(text, at);
    wanted = next;
    at += token.length;
  }
}

/** Expectation after the token; undefined if the token is not allowed. */
function after(token: string, wanted: Wanted, open: string[]): Wanted | undefined {
  switch (wanted) {
    case "value or ]":
      return token === "]" ? closed(open) : value(token, open);
    case "value":
      return value(token, open);
    case "key or }":
      if (token === "}") return closed(open);
      return token.startsWith('"') ? ":" : undefined;
    case "key":
      return token.startsWith('"') ? ":" : undefined;
    case ":":
      return token === ":" ? "value" : undefined;
    case ", or end":
      if (token === open.at(-1)) return closed(open);
      if (token !== "," || open.length === 0) return undefined;
      return open.at(-1) === "}" ? "key" : "value";
  }
}

function value(token: string, open: string[]): Wanted | undefined {
  if (token === "{") {
    open.push("}");
    return "key or }";
  }
  if (token === "[") {
    open.push("]");
    return "value or ]";
  }
  return /[}\]:,]/.test(token[0] ?? "") ? undefined : ", or end";
}

function closed(open: string[]): Wanted {
  open.pop();
  return ", or end";
}

function placeOf(text: string, at: number): TextFault {
  const lines = text.slice(0, at).split("\n");
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

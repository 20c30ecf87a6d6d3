import { textWidth } from "../draw/text-width.js";

/** Lines of at most `width` columns, broken at spaces where there are some. Line breaks of the text stay. */
export function wrapped(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => wrapLine(line, Math.max(1, width)));
}

function wrapLine(line: string, width: number): string[] {
  if (textWidth(line) <= width) return [line];
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(/(?<=\s)/)) {
    if (textWidth((current + word).trimEnd()) <= width) current += word;
    else {
      if (current.trim() !== "") lines.push(current.trimEnd());
      const pieces = cut(word, width);
      lines.push(...pieces.slice(0, -1));
      current = pieces.at(-1) ?? "";
    }
  }
  return current.trim() === "" ? lines : [...lines, current.trimEnd()];
}

/** A word that is longer than a line. */
function cut(word: string, width: number): string[] {
  if (textWidth(word.trimEnd()) <= width) return [word];
  const pieces: string[] = [""];
  for (const char of word) {
    const last = pieces.at(-1) ?? "";
    if (textWidth(last + char) > width && last !== "") pieces.push(char);
    else pieces[pieces.length - 1] = last + char;
  }
  return pieces;
}

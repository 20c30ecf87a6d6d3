/** Maximum number of columns in a frame. Lines of a bundle can have millions. */
const WIDEST = 200;
/** Columns shown before the marked one if the line does not fit. */
const BEFORE = 80;

/** The given line with its neighbors and a marker under the column; empty if `line` is out of range. */
export function codeFrame(text: string, line: number, column = 1): string {
  const lines = text.split(/\r?\n/);
  if (line < 1 || line > lines.length) return "";
  const start = column > WIDEST ? column - BEFORE : 0;
  const sourceAt = (number: number) => (lines[number - 1] ?? "").slice(start, start + WIDEST);
  const first = Math.max(1, line - 1);
  const last = Math.min(lines.length, line + 1);
  const width = String(last).length;
  const rows: string[] = [];
  for (let number = first; number <= last; number += 1) {
    const source = sourceAt(number).replaceAll("\t", "  ");
    rows.push(`${number === line ? ">" : " "} ${String(number).padStart(width)} | ${source}`.trimEnd());
    if (number === line)
      rows.push(`  ${" ".repeat(width)} | ${markerIndent(sourceAt(line), column - start)}^`);
  }
  return rows.join("\n");
}

function markerIndent(source: string, column: number): string {
  return source
    .slice(0, column - 1)
    .replaceAll("\t", "  ")
    .replace(/./g, " ");
}

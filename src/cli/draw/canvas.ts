import { cells } from "./text-width.js";

/** Rows of cells to write text on; what is written later wins. */
export class Canvas {
  readonly #rows: string[][] = [];

  write(x: number, y: number, text: string): void {
    const row = this.#row(y);
    let column = x;
    for (const { char, width } of cells(text)) {
      while (row.length < column) row.push(" ");
      row[column] = char;
      // The second half of a wide character is its own cell, and empty.
      if (width === 2) row[column + 1] = "";
      column += width;
    }
  }

  lines(): string[] {
    return Array.from(this.#rows, (row) => (row ?? []).join("").trimEnd());
  }

  #row(y: number): string[] {
    while (this.#rows.length <= y) this.#rows.push([]);
    return this.#rows[y] ?? [];
  }
}

/** Columns that text takes in a terminal. */
// Wide by Unicode's table: Hangul, CJK, fullwidth forms, emoji.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
// Marks that join the character before them.
const JOINED = /[\p{Mn}\p{Me}\u200b-\u200d\ufe00-\ufe0f]/u;

/** The text as cells: what belongs together in one of them, and how many columns it takes. */
export function cells(text: string): { char: string; width: number }[] {
  const found: { char: string; width: number }[] = [];
  for (const char of text) {
    const last = found.at(-1);
    if (last && JOINED.test(char)) last.char += char;
    else found.push({ char, width: WIDE.test(char) ? 2 : 1 });
  }
  return found;
}

export function textWidth(text: string): number {
  return cells(text).reduce((sum, { width }) => sum + width, 0);
}

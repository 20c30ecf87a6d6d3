// C0 but newline and tab, DEL, C1, line and paragraph separators, and marks that turn the direction of text around.
const CONTROL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text from outside as a terminal may show it: control characters written out as `\u001b`. */
export function escapeControl(text: string): string {
  return text.replace(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

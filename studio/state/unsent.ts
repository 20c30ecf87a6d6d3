/** What was entered into the composer and not sent, by conversation. This tab keeps it across reloads. */
import { tabList } from "./tab.js";

/** An input: its value or, while its text is invalid JSON or that of a field is invalid, that text too. */
export interface Unsent {
  value: unknown;
  broken?: string | undefined;
  /** Invalid text of fields, by JSON-encoded path. */
  unfit?: readonly (readonly [path: string, text: string])[] | undefined;
}

const KEPT = "graph-serve.unsent";
/** Maximum number of conversations. */
const MOST = 20;
/** Maximum number of characters; browsers store about five million. */
const MOST_CHARACTERS = 2_000_000;

/** The last one to change is at the end. */
const all = new Map(tabList<[string, Unsent]>(KEPT));

export const unsentOf = (conversation: string): Unsent | undefined => all.get(conversation);

export function keepUnsent(conversation: string, unsent: Unsent): void {
  all.delete(conversation);
  const { value, broken, unfit = [] } = unsent;
  if (broken !== undefined || unfit.length > 0 || JSON.stringify(value) !== "{}")
    all.set(conversation, unsent);
}

/** Inputs that do not fit, because of their files, are lost on a reload. */
export function storeUnsent(): void {
  const kept: string[] = [];
  let room = MOST_CHARACTERS;
  for (const entry of [...all].reverse()) {
    const text = JSON.stringify(entry);
    if (kept.length === MOST || text.length > room) continue;
    kept.unshift(text);
    room -= text.length;
  }
  try {
    // If it cannot be stored, an older state must not come back.
    sessionStorage.removeItem(KEPT);
    sessionStorage.setItem(KEPT, `[${kept.join(",")}]`);
  } catch {
    // Storage quota exceeded, or no storage: it is lost on a reload.
  }
}

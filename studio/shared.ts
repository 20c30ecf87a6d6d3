/** A page that carries its thread in itself: what it would ask of a server, it answers from its own data. */
import type { PageData } from "../src/view/replay-data.js";
import { type Answerer, answererOf } from "./parts/answers.js";

/** Undefined on a page that a server sends. */
export function sharedThread(): { id: string; answer: Answerer } | undefined {
  const text = document.getElementById("data")?.textContent;
  if (text == null) return undefined;
  const data = JSON.parse(text) as PageData;
  return { id: data.thread.thread_id, answer: answererOf(data) };
}

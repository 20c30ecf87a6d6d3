/** Answers requests of a saved page from the thread embedded in it. */
import type { PageData } from "../src/view/replay-data.js";
import { type Answerer, answererOf } from "./components/answers.js";

/** Undefined on pages served by a server. */
export function sharedThread(): { id: string; answer: Answerer } | undefined {
  const text = document.getElementById("data")?.textContent;
  if (text == null) return undefined;
  const data = JSON.parse(text) as PageData;
  return { id: data.thread.thread_id, answer: answererOf(data) };
}

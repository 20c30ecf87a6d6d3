/** Renders text as Markdown. */
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { LongText } from "./text.js";

/** Loaded after the page; until then text is shown as is. */
export const markdown = signal<ComponentType<{ text: string }> | undefined>(undefined);
let isAsked = false;

export function Prose({ text }: { text: string }) {
  if (!isAsked) {
    isAsked = true;
    void import("./markdown.js").then(({ Markdown }) => (markdown.value = Markdown));
  }
  const { value: Markdown } = markdown;
  return Markdown ? <Markdown text={text} /> : <LongText class="prose" text={text} />;
}

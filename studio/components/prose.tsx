/** Renders text as Markdown. */
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { Cut, visible } from "./text.js";

/** Loaded after the page; until then text is shown as is. */
export const markdown = signal<ComponentType<{ text: string }> | undefined>(undefined);
let isAsked = false;

/** `most` characters are shown initially. Default: all. */
export function Prose({ text, most = Infinity }: { text: string; most?: number }) {
  if (!isAsked) {
    isAsked = true;
    void import("./markdown.js").then(({ Markdown }) => (markdown.value = Markdown));
  }
  const { value: Markdown } = markdown;
  return (
    <Cut text={text} most={most}>
      {(shown) =>
        Markdown ? (
          <Markdown text={shown} />
        ) : (
          <pre dir="auto" class="text prose">
            {visible(shown)}
          </pre>
        )
      }
    </Cut>
  );
}

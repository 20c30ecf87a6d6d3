/** Moves the focus to the content after navigation, as a browser does for a page that it loads. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { isTyping } from "./keys.js";

const CONTENT = "content";

export const focusContent = (): void => document.getElementById(CONTENT)?.focus({ preventScroll: true });

/** Whether the user is at something that navigation does not replace. */
function isHeld(focused: Element | null): boolean {
  return isTyping(focused) || focused?.closest(`#${CONTENT}, dialog[open]`) != null;
}

/** Call it with the path of the address. The first page keeps the focus that the browser chose. */
export function useFocusAfterNavigation(path: string): void {
  const last = useRef(path);
  useEffect(() => {
    const isNew = last.current !== path;
    last.current = path;
    if (isNew && !isHeld(document.activeElement)) focusContent();
  }, [path]);
}

/** Keeps the focus on the content when `part` replaces it. */
export function useKeptFocus(part: unknown): void {
  // The previous content is still in the document.
  const hadFocus = document.activeElement?.id === CONTENT;
  useLayoutEffect(() => {
    if (hadFocus) focusContent();
  }, [part]);
}

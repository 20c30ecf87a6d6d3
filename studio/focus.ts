/** Moves the focus to the content after navigation, as a browser does for a page that it loads. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { isTyping } from "./keys.js";

/** Id of the content of a screen. */
export const CONTENT = "content";

export const focusContent = (): void => document.getElementById(CONTENT)?.focus({ preventScroll: true });

/** Whether the user is at something that navigation does not replace. */
function isHeld(focused: Element | null): boolean {
  return isTyping(focused) || focused?.closest(`#${CONTENT}, dialog[open]`) != null;
}

/** Moves the focus to the content if the page has removed what had it. */
export function keepFocus(): void {
  // The removal is rendered first.
  requestAnimationFrame(() => document.activeElement === document.body && focusContent());
}

/** Props of a button that ignores presses while it is busy: a button that is really disabled loses the focus. */
export const unlessBusy = (isBusy: boolean, press: () => void) => ({
  "aria-disabled": isBusy,
  onClick: () => void (isBusy || press()),
});

/** Give the ref to an element that the page removes by itself: the focus moves to the content if it was inside. */
export function useFocusKept<T extends Element>(): RefObject<T | null> {
  const box = useRef<T>(null);
  useLayoutEffect(() => {
    const element = box.current;
    return () => void (element?.contains(document.activeElement) && keepFocus());
  }, []);
  return box;
}

/** Call it with the path and the query of the address. The first page keeps the focus that the browser chose. */
export function useFocusAfterNavigation(path: string, query: string): void {
  const last = useRef({ path, query });
  useEffect(() => {
    const before = last.current;
    last.current = { path, query };
    if (before.path !== path && !isHeld(document.activeElement)) focusContent();
    else if (before.query !== query) keepFocus();
  }, [path, query]);
}

/** Keeps the focus on the content when `part` replaces it. */
export function useKeptFocus(part: unknown): void {
  // The previous content is still in the document.
  const hadFocus = document.activeElement?.id === CONTENT;
  useLayoutEffect(() => {
    if (hadFocus) focusContent();
  }, [part]);
}

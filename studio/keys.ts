/** Keyboard shortcuts of all screens. Single letters are ignored in text fields. */
import { signal } from "@preact/signals";
import { isPaletteShown } from "./components/palette.js";
import { go, href, place, withQuery } from "./router.js";
import { drafts } from "./state/fork.js";
import { hasSingleKeys } from "./state/layout.js";
import { TABS, tabHref } from "./screens/inspector.js";

export const isHelpShown = signal(false);

/** Maximum time between the keys of a shortcut such as `g r`. */
const PAIR_MS = 1200;
let lastG = 0;

export const isTyping = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");

const isInDialog = (): boolean => document.querySelector("dialog[open]") !== null;

const press = (selector: string): void => document.querySelector<HTMLElement>(selector)?.click();

const isPalette = ({ key, metaKey, ctrlKey }: KeyboardEvent): boolean =>
  key.toLowerCase() === "k" && (metaKey || ctrlKey);

export function listenForKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (isPalette(event) && !isInDialog()) {
      event.preventDefault();
      isPaletteShown.value = true;
    }
    if (event.metaKey || event.ctrlKey || event.altKey || isInDialog()) return;
    if (event.key === "Escape") return back(event);
    if (isTyping(event.target) || event.defaultPrevented) return;
    if (hasSingleKeys.value && act(event.key)) event.preventDefault();
  });
}

/** Leaves the focused field; otherwise closes the fork, unless it has a draft. Never leaves the screen. */
function back({ target }: KeyboardEvent): void {
  if (isTyping(target)) return target.blur();
  if (place.value.query.fork === undefined || Object.keys(drafts.value).length > 0) return;
  go(withQuery({ fork: undefined }), { replace: true });
}

function act(key: string): boolean {
  const isPair = Date.now() - lastG < PAIR_MS;
  lastG = key === "g" && !isPair ? Date.now() : 0;
  if (isPair && key === "r") go(href(["run"]));
  else if (isPair && key === "i") go(href(["inbox"]));
  else if (isPair && key === "t") go(href(["threads"]));
  else if (isPair && key === "u") go(href(["runs"]));
  else if (isPair && key === "m") go(href(["store"]));
  else if (isPair && key === "c") go(href(["usage"]));
  else if (isPair && key === "g") go(href(["graphs"]));
  else if (key === "?") isHelpShown.value = true;
  else if (key === "/") document.querySelector<HTMLElement>("[data-slash]")?.focus();
  else if (key === "[") press("[data-fold]");
  else if (key === "r") press("[data-refresh]");
  else if (key === "f") press("[data-fork]");
  else if (key === ".") press("[data-step]");
  else if (key === "n") press("[data-newest]");
  else if (/^[1-9]$/.test(key)) return chooseTab(Number(key));
  else if (key === "j" || (key === "ArrowDown" && !isElsewhere())) return move(1);
  else if (key === "k" || (key === "ArrowUp" && !isElsewhere())) return move(-1);
  else return key === "g";
  return true;
}

function chooseTab(number: number): boolean {
  const tab = TABS[number - 1];
  if (!tab || document.querySelector(".inspector") === null) return false;
  go(tabHref(tab), { replace: true });
  return true;
}

/** Whether the focus is on something outside the list, such as a panel, which the arrow keys scroll. */
const isElsewhere = (): boolean =>
  document.activeElement?.matches("body, #content, #steps, [data-list] *") !== true;

/** Moves to another link of the list or, on the thread screen, to another step. */
function move(by: number): boolean {
  const steps = document.getElementById("steps");
  if (steps) {
    steps.focus();
    steps.dispatchEvent(new KeyboardEvent("keydown", { key: by > 0 ? "ArrowDown" : "ArrowUp" }));
    return true;
  }
  const links = [...document.querySelectorAll<HTMLElement>("[data-list] a")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[Math.max(0, Math.min(at + by, links.length - 1))]?.focus();
  return links.length > 0;
}

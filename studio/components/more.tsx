/** Menus of secondary facts and actions. */
import type { ComponentChildren, TargetedFocusEvent, TargetedKeyboardEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { strings } from "../strings.js";

const ITEMS = ":is(a[href], button, input, select):not(:disabled)";

/** Where a key leads from the item `at`; -1 is the button of the menu. */
function target(key: string, at: number, count: number): number | undefined {
  if (key === "ArrowDown") return (at + 1) % count;
  if (key === "ArrowUp") return at <= 0 ? count - 1 : at - 1;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : undefined;
}

function onKey(event: TargetedKeyboardEvent<HTMLDetailsElement>): void {
  const menu = event.currentTarget;
  if (event.key === "Escape" && menu.open) {
    event.stopPropagation();
    menu.open = false;
    menu.querySelector("summary")?.focus();
  }
  // Its keys choose a value.
  if (event.target instanceof HTMLSelectElement) return;
  const items = [...menu.querySelectorAll<HTMLElement>(ITEMS)];
  const to = target(event.key, items.indexOf(event.target as HTMLElement), items.length);
  if (to === undefined || event.metaKey || event.ctrlKey || event.altKey) return;
  event.preventDefault();
  menu.open = true;
  items[to]?.focus();
}

// A press on a label moves the focus to nothing first. Chromium 156 crashes if the menu is closed while its focus moves.
function onLeave({ currentTarget, relatedTarget }: TargetedFocusEvent<HTMLDetailsElement>): void {
  if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget))
    setTimeout(() => {
      if (!currentTarget.contains(document.activeElement)) currentTarget.open = false;
    });
}

interface MenuProps {
  class: string;
  /** Content of the button that opens it. */
  button: ComponentChildren;
  /** Name of a button without text. */
  label?: string;
  children: ComponentChildren;
}

/** Closes on Escape, and when the focus or a press is elsewhere. */
export function Menu({ class: name, button, label, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = ({ target: pressed }: PointerEvent) => {
      if (menu.current && pressed instanceof Node && !menu.current.contains(pressed))
        menu.current.open = false;
    };
    document.addEventListener("pointerdown", close);
    return () => document.removeEventListener("pointerdown", close);
  }, []);
  return (
    <details ref={menu} class={name} onKeyDown={onKey} onFocusOut={onLeave}>
      <summary aria-label={label} title={label}>
        {button}
      </summary>
      {children}
    </details>
  );
}

export const More = ({ children }: { children: ComponentChildren }) => (
  <Menu class="more" button="⋯" label={strings.layout.more}>
    <div class="more-list">{children}</div>
  </Menu>
);

/** Virtual list with rows of equal height: only the visible rows are in the DOM. */
import type { ComponentChildren, TargetedEvent } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { hasSingleKeys } from "../state/layout.js";

interface RowsProps {
  id: string;
  role: "listbox" | "tree";
  label: string;
  count: number;
  /** Row height in pixels. */
  height: number;
  /** Index of the active row; -1 if there is none. */
  active: number;
  class?: string;
  /** Renders a row; its element must have the id `rowId(id, index)`. */
  row: (index: number) => ComponentChildren;
  onKey: (event: KeyboardEvent) => void;
  /** Called with the range of rendered rows; `to` is exclusive. */
  onSeen?: (from: number, to: number) => void;
}

const BEYOND = 8;
/** Rows are added and removed in blocks of this size, to render less often while scrolling. */
const AT_ONCE = 4;

/** Range of rows to render around the visible ones; the end is exclusive. */
function around(top: number, seen: number, height: number): readonly [number, number] {
  const from = Math.floor(top / height / AT_ONCE) * AT_ONCE;
  const to = Math.ceil((top + seen) / height / AT_ONCE) * AT_ONCE;
  return [Math.max(0, from - BEYOND), to + BEYOND];
}

export const rowId = (list: string, index: number): string => `${list}-${index}`;

export function Rows(props: RowsProps) {
  const { id, role, label, count, height, active, row, onKey, onSeen } = props;
  const box = useRef<HTMLDivElement>(null);
  const [[first, past], setShown] = useState<readonly [number, number]>(() => around(0, 600, height));
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => show(element));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const show = ({ scrollTop, clientHeight }: HTMLElement) => {
    const [from, to] = around(scrollTop, clientHeight, height);
    // Skip rendering if the range is unchanged.
    setShown((before) => (before[0] === from && before[1] === to ? before : [from, to]));
  };
  useEffect(() => {
    if (box.current && active >= 0) reveal(box.current, active * height, height);
  }, [active, height]);
  const end = Math.min(count, past);
  useEffect(() => void onSeen?.(first, end), [first, end, count]);
  const onScroll = ({ currentTarget }: TargetedEvent<HTMLDivElement>) => show(currentTarget);
  const indexes = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);
  const isShown = active >= first && active < end;
  return (
    <div
      ref={box}
      id={id}
      class={`rows ${props.class ?? ""}`}
      role={role}
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={isShown ? rowId(id, active) : undefined}
      onScroll={onScroll}
      onKeyDown={onKey}
    >
      <div role="presentation" style={{ height: `${count * height}px`, position: "relative" }}>
        <div role="presentation" class="rows-seen" style={{ top: `${first * height}px` }}>
          {indexes.map(row)}
        </div>
      </div>
    </div>
  );
}

function reveal(box: HTMLElement, top: number, height: number): void {
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
}

/** Target row of a navigation key; undefined for other keys. */
export function movedBy(key: string, from: number, count: number): number | undefined {
  const last = count - 1;
  const shortcut = hasSingleKeys.value ? { j: "ArrowDown", k: "ArrowUp" }[key] : undefined;
  switch (shortcut ?? key) {
    case "ArrowDown":
      return Math.min(from + 1, last);
    case "ArrowUp":
      return Math.max(from - 1, 0);
    case "PageDown":
      return Math.min(from + 10, last);
    case "PageUp":
      return Math.max(from - 10, 0);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return undefined;
  }
}

/** Target tab of a navigation key; undefined for other keys. */
export function movedAcross(key: string, from: number, count: number): number | undefined {
  const last = count - 1;
  return {
    ArrowRight: from === last ? 0 : from + 1,
    ArrowLeft: from === 0 ? last : from - 1,
    Home: 0,
    End: last,
  }[key];
}

/** Index of the next row, after `from` and then from the start, whose text begins with the typed key. */
export function typedAhead(
  { key, altKey, ctrlKey, metaKey }: KeyboardEvent,
  from: number,
  texts: () => readonly string[],
): number | undefined {
  // Otherwise single keys are shortcuts.
  if (hasSingleKeys.value || altKey || ctrlKey || metaKey || !/^\S$/u.test(key)) return undefined;
  const isMatch = (text: string) => text.toLowerCase().startsWith(key.toLowerCase());
  const all = texts();
  const after = all.findIndex((text, index) => index > from && isMatch(text));
  const found = after >= 0 ? after : all.findIndex(isMatch);
  return found >= 0 ? found : undefined;
}

/** A list of any length, of which only what can be seen is in the page. All rows have one height. */
import type { ComponentChildren, TargetedEvent } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface RowsProps {
  id: string;
  role: "listbox" | "tree";
  label: string;
  count: number;
  /** Pixels of a row. */
  height: number;
  /** Row that the keys move from; -1 for none. */
  active: number;
  class?: string;
  /** The row; its element has the id `rowId(id, index)`. */
  row: (index: number) => ComponentChildren;
  onKey: (event: KeyboardEvent) => void;
  /** The last rows can be seen. */
  onEnd?: () => void;
}

const BEYOND = 8;

export const rowId = (list: string, index: number): string => `${list}-${index}`;

export function Rows(props: RowsProps) {
  const { id, role, label, count, height, active, row, onKey, onEnd } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (box.current && active >= 0) reveal(box.current, active * height, height);
  }, [active, height]);
  const first = Math.max(0, Math.floor(view.top / height) - BEYOND);
  const end = Math.min(count, Math.ceil((view.top + view.height) / height) + BEYOND);
  useEffect(() => {
    if (end >= count) onEnd?.();
  }, [end, count]);
  const onScroll = ({ currentTarget }: TargetedEvent<HTMLDivElement>) =>
    setView({ top: currentTarget.scrollTop, height: currentTarget.clientHeight });
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

/** Where a key leads from a row; undefined for other keys. */
export function movedBy(key: string, from: number, count: number): number | undefined {
  const last = count - 1;
  switch (key) {
    case "ArrowDown":
    case "j":
      return Math.min(from + 1, last);
    case "ArrowUp":
    case "k":
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

/** The foot of a list that goes on: it loads more when it comes into sight, and when it is pressed. */
import { useEffect, useRef } from "preact/hooks";
import type { Loading } from "../state/loading.js";
import { words } from "../words.js";

interface EndOfListProps {
  /** How many rows are there. */
  count: number;
  page: Loading<void>;
  hasMore: boolean;
  more: () => void;
  text: string;
}

export function EndOfList({ count, page, hasMore, more, text }: EndOfListProps) {
  return (
    <footer class="list-end dim">
      <span role="status">{text}</span>
      {hasMore ? <More count={count} page={page} more={more} /> : <span>{words.list.end}</span>}
    </footer>
  );
}

function More({ count, page, more }: Pick<EndOfListProps, "count" | "page" | "more">) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!button.current) return;
    const observer = new IntersectionObserver(
      ([entry]) => entry?.isIntersecting && !page.error.value && more(),
      { rootMargin: "600px" },
    );
    observer.observe(button.current);
    return () => observer.disconnect();
  }, [count]);
  return (
    <button ref={button} type="button" class="small" onClick={more}>
      {page.busy.value ? words.loading : words.more}
    </button>
  );
}

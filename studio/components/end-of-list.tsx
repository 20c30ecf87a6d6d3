/** Footer of a paginated list. */
import type { Ref } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Loading } from "../state/loading.js";
import { strings } from "../strings.js";

interface EndOfListProps {
  /** Number of loaded rows. */
  count: number;
  page: Loading<void>;
  hasMore: boolean;
  more: () => void;
  text: string;
}

/** Loads the next page when it scrolls into view or is clicked. */
export function EndOfList({ count, page, hasMore, more, text }: EndOfListProps) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!button.current) return;
    const observer = new IntersectionObserver(
      ([entry]) => entry?.isIntersecting && !page.error.value && more(),
      { rootMargin: "600px" },
    );
    observer.observe(button.current);
    return () => observer.disconnect();
  }, [count, hasMore]);
  return (
    <footer class="list-end dim">
      <span role="status">{text}</span>
      {hasMore ? <More ref={button} isBusy={page.busy.value} more={more} /> : <span>{strings.list.end}</span>}
    </footer>
  );
}

interface MoreProps {
  more: () => void;
  isBusy?: boolean;
  /** Number of visible rows, such as `50 of 200`. */
  text?: string;
  ref?: Ref<HTMLButtonElement>;
}

export function More({ more, isBusy = false, text, ref }: MoreProps) {
  const label = isBusy ? strings.loading : strings.more;
  return (
    <button ref={ref} type="button" class="small" onClick={more}>
      {text === undefined ? label : `${text} · ${label}`}
    </button>
  );
}

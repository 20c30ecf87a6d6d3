/** The head of a list that is filtered, and the filters that lists share; the address says what is chosen. */
import type { ComponentChildren } from "preact";
import { go, place, withQuery } from "../router.js";
import { parseMeta } from "../state/threads.js";
import { words } from "../words.js";

export function ListHead({ title, reload }: { title: string; reload: () => void }) {
  return (
    <header class="screen-head">
      <h1>{title}</h1>
      <button type="button" class="small" data-refresh onClick={reload}>
        {words.refresh}
      </button>
    </header>
  );
}

interface StatusChoicesProps<Status extends string> {
  statuses: readonly Status[];
  /** How one is shown; undefined stands for all. */
  show: (status: Status | undefined) => ComponentChildren;
}

export function StatusChoices<Status extends string>({ statuses, show }: StatusChoicesProps<Status>) {
  const { status } = place.value.query;
  return (
    <nav class="choices" aria-label={words.list.status}>
      {[undefined, ...statuses].map((each) => (
        <a
          key={each ?? "all"}
          href={withQuery({ status: each })}
          aria-current={status === each ? "true" : undefined}
        >
          {show(each)}
        </a>
      ))}
    </nav>
  );
}

export function MetaField() {
  const { meta = "" } = place.value.query;
  const isWrong = meta !== "" && parseMeta(meta) === undefined;
  return (
    <label>
      <span>{words.list.meta}</span>
      <input
        type="search"
        placeholder={words.list.metaHint}
        value={meta}
        aria-invalid={isWrong}
        aria-describedby={isWrong ? "meta-fault" : undefined}
        onChange={({ currentTarget }) => go(withQuery({ meta: currentTarget.value }), { replace: true })}
      />
      {isWrong && (
        <span id="meta-fault" class="bad">
          {words.list.metaFault}
        </span>
      )}
    </label>
  );
}

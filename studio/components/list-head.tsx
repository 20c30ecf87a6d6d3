/** Header of a filtered list, and filters shared by lists. The address stores the filters. */
import type { ComponentChildren } from "preact";
import { go, place, withQuery } from "../router.js";
import { isLive } from "../state/changes.js";
import { parseMeta } from "../state/threads.js";
import { strings } from "../strings.js";

interface ListHeadProps {
  title: string;
  /** Number of objects, if known. */
  count?: number | undefined;
  /** Of a file: it changes only if it is read again. */
  isStored?: boolean;
  reload: () => void;
}

export function ListHead({ title, count, isStored = false, reload }: ListHeadProps) {
  return (
    <header class="screen-head">
      <h1>{title}</h1>
      {count !== undefined && <span class="count">{count.toLocaleString("en")}</span>}
      {!isStored && isLive.value && (
        <span class="live" title={strings.list.liveHint}>
          {strings.list.live}
        </span>
      )}
      <button type="button" class="small" data-refresh onClick={reload}>
        {strings.refresh}
      </button>
    </header>
  );
}

interface StatusChoicesProps<Status extends string> {
  statuses: readonly Status[];
  /** Label of a choice; undefined means all. */
  show: (status: Status | undefined) => ComponentChildren;
}

export function StatusChoices<Status extends string>({ statuses, show }: StatusChoicesProps<Status>) {
  const { status } = place.value.query;
  return (
    <nav class="choices" aria-label={strings.list.status}>
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

interface FactsFieldProps {
  /** Query parameter. */
  name: "meta" | "value";
  label: string;
  hint: string;
}

/** Accepts filters such as `user=ada`; reports invalid ones. */
export function FactsField({ name, label, hint }: FactsFieldProps) {
  const text = place.value.query[name] ?? "";
  const isWrong = text !== "" && parseMeta(text) === undefined;
  const fault = `${name}-fault`;
  return (
    <label>
      <span>{label}</span>
      <input
        type="search"
        placeholder={hint}
        value={text}
        aria-invalid={isWrong}
        aria-describedby={isWrong ? fault : undefined}
        onChange={({ currentTarget }) => go(withQuery({ [name]: currentTarget.value }), { replace: true })}
      />
      {isWrong && (
        <span id={fault} class="bad">
          {strings.list.metaFault}
        </span>
      )}
    </label>
  );
}

export const MetaField = () => (
  <FactsField name="meta" label={strings.list.meta} hint={strings.list.metaHint} />
);

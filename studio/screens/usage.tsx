/** Usage of models: tokens and costs by model, user, graph or day, and a chart by day. */
import { useEffect } from "preact/hooks";
import type { Usage } from "../../src/models/usage.js";
import { Empty, Fault, Waiting } from "../components/common.js";
import { ListHead } from "../components/list-head.js";
import { sumText } from "../components/costs.js";
import { dollars, visible } from "../components/text.js";
import { go, place, withQuery } from "../router.js";
import { onUsage, throttled } from "../state/changes.js";
import {
  daysOf,
  type Group,
  group,
  GROUPS,
  period,
  type Period,
  PERIODS,
  type ReadUsage,
  reloadUsage,
  tokensOf,
  totalOf,
  usage,
} from "../state/usage.js";
import { strings } from "../strings.js";

/** Minimum interval of reloads after model calls. */
const REFRESH_MS = 2000;
/** Size of the chart, in its own units: it stretches to the width of the page. */
const [WIDTH, HEIGHT] = [1000, 120];
/** Height of a bar that would round to nothing. */
const LEAST = 1;

export function UsageScreen() {
  const { by, since } = place.value.query;
  useEffect(() => void reloadUsage(), [by, since]);
  useEffect(() => onUsage(throttled(reloadUsage, REFRESH_MS)), []);
  return (
    <main id="content" class="screen list-screen usage" tabIndex={-1}>
      <ListHead title={strings.usage.title} reload={() => void reloadUsage()} />
      <Filters />
      <Content />
    </main>
  );
}

function Filters() {
  return (
    <div class="filters">
      <nav class="choices" aria-label={strings.usage.by}>
        {GROUPS.map((each) => (
          <a
            key={each}
            href={withQuery({ by: each })}
            aria-current={each === group.value ? "true" : undefined}
          >
            {strings.usage.groups[each]}
          </a>
        ))}
      </nav>
      <div class="fields">
        <label>
          <span>{strings.usage.period}</span>
          <select
            data-slash
            value={period.value ?? "all"}
            onChange={({ currentTarget }) => go(withQuery({ since: currentTarget.value }), { replace: true })}
          >
            {(Object.keys(PERIODS) as Period[]).map((each) => (
              <option key={each} value={each}>
                {strings.usage.periods[each]}
              </option>
            ))}
            <option value="all">{strings.usage.periods.all}</option>
          </select>
        </label>
      </div>
    </div>
  );
}

function Content() {
  const error = usage.error.value;
  const read = usage.value.value;
  if (error?.code === "unsupported_option")
    return <Empty title={strings.usage.unsupported} hint={strings.usage.unsupportedHint} />;
  if (error) return <Fault error={error} retry={() => void reloadUsage()} />;
  if (!read) return <Waiting />;
  if (read.rows.length === 0)
    return period.value === undefined ? (
      <Empty title={strings.usage.none} hint={strings.usage.noneHint} />
    ) : (
      <Empty title={strings.usage.noneSince} hint={strings.usage.noneSinceHint} />
    );
  return (
    <>
      <Chart read={read} />
      <Groups read={read} />
      {read.isComplete ? null : <p class="dim">{strings.usage.more(read.rows.length)}</p>}
      {read.rows.some(({ unpriced_calls }) => unpriced_calls > 0) && (
        <p class="dim small-text">{strings.usage.unpriced}</p>
      )}
    </>
  );
}

/** Costs by day, or tokens if no cost is known. */
function Chart({ read }: { read: ReadUsage }) {
  const days = daysOf(read);
  const isPriced = read.days.some(({ cost_usd }) => (cost_usd ?? 0) > 0);
  const valueOf = (day: Usage | undefined) => (day ? (isPriced ? (day.cost_usd ?? 0) : tokensOf(day)) : 0);
  const textOf = (value: number) => (isPriced ? dollars(value) : strings.usage.tokens(value));
  const most = Math.max(...days.map((day) => valueOf(day.usage)), Number.MIN_VALUE);
  const [first, last] = [days[0]?.day ?? "", days.at(-1)?.day ?? ""];
  const step = WIDTH / days.length;
  return (
    <figure class="usage-chart">
      <figcaption>
        {isPriced ? strings.usage.costChart : strings.usage.tokenChart}
        <span class="dim">{strings.usage.highest(textOf(most))}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={strings.usage.chart(first, last, textOf(most))}
      >
        {days.map(({ day, usage: of }, index) => {
          const value = valueOf(of);
          const height = value === 0 ? 0 : Math.max(LEAST, (value / most) * HEIGHT);
          const text = `${day}: ${textOf(value)}`;
          return (
            <g key={day}>
              <title>{text}</title>
              <rect class="usage-day" x={index * step} y={0} width={step} height={HEIGHT} />
              <rect
                class="usage-bar"
                x={index * step + step / 8}
                y={HEIGHT - height}
                width={(step * 3) / 4}
                height={height}
              />
            </g>
          );
        })}
      </svg>
      <p class="usage-axis dim" aria-hidden="true">
        <span>{first}</span>
        {first !== last && <span>{last}</span>}
      </p>
    </figure>
  );
}

const COLUMNS = ["calls", "input", "cached", "output", "cost"] as const;

function Groups({ read }: { read: ReadUsage }) {
  const { group: by } = read;
  // The most expensive ones first, but days in their order.
  const rows = by === "day" ? [...read.rows].reverse() : [...read.rows].sort(byCost);
  const title = strings.usage.groups[by];
  return (
    <table class="usage-table" aria-label={strings.usage.table(title)}>
      <thead>
        <tr>
          <th scope="col">{title}</th>
          {COLUMNS.map((each) => (
            <th key={each} scope="col" class={`is-${each}`}>
              {strings.usage.columns[each]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Numbers key={String(row[by])} name={nameOf(row, by)} row={row} />
        ))}
      </tbody>
      <tfoot>
        <Numbers name={strings.usage.total} row={totalOf(rows)} />
      </tfoot>
    </table>
  );
}

const byCost = (a: Usage, b: Usage): number =>
  (b.cost_usd ?? 0) - (a.cost_usd ?? 0) || tokensOf(b) - tokensOf(a);

const nameOf = (row: Usage, by: Group): string => row[by] || (by === "user" ? strings.usage.noUser : "–");

function Numbers({ name, row }: { name: string; row: Usage }) {
  return (
    <tr>
      <th scope="row">{visible(name)}</th>
      <td>{row.calls.toLocaleString("en")}</td>
      <td>{row.input_tokens.toLocaleString("en")}</td>
      <td class="is-cached">{row.cache_read_tokens.toLocaleString("en")}</td>
      <td>{row.output_tokens.toLocaleString("en")}</td>
      <td>{sumText(row.cost_usd, row.unpriced_calls)}</td>
    </tr>
  );
}

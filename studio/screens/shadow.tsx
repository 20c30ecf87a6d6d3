/** The results of the last `shadow --studio`: the runs that differ by class, and what differs. */
import { useEffect } from "preact/hooks";
import type { StudioShadow, StudioShadowResult } from "../../src/models/studio.js";
import { ChangedText, isLong } from "../components/changed-text.js";
import { Empty, Fault, Waiting } from "../components/common.js";
import { ListHead } from "../components/list-head.js";
import { Ago, jsonText, visible } from "../components/text.js";
import { href, place, withQuery } from "../router.js";
import { hello } from "../state/hello.js";
import { readShadow } from "../state/helper.js";
import { load, loading } from "../state/loading.js";
import { strings } from "../strings.js";

const page = loading<{ saved: StudioShadow | null }>();
const reload = () => load(page, async () => ({ saved: await readShadow() }));

/** Differences that decide about a deploy come first. */
const ORDER = [
  "status",
  "path",
  "words",
  "cost",
  "unrecorded",
  "over_budget",
  "unstable",
  "skipped",
  "accepted",
];

export function Shadow() {
  const of = hello.value?.place;
  useEffect(() => void reload(), [of]);
  return (
    <main id="content" class="screen list-screen" tabIndex={-1}>
      <ListHead title={strings.shadow.title} isStored reload={() => void reload()} />
      <Content />
    </main>
  );
}

function Content() {
  const error = page.error.value;
  if (error) return <Fault error={error} retry={() => void reload()} />;
  const { value } = page.value;
  if (!value) return <Waiting />;
  if (!value.saved)
    return (
      <Empty
        title={strings.shadow.none}
        hint={strings.shadow.noneHint}
        command="graph-serve shadow --since 24h --against ./next.ts --studio"
      />
    );
  return <Results saved={value.saved} />;
}

function Results({ saved: { at, against, summary, counts, results } }: { saved: StudioShadow }) {
  const { status } = place.value.query;
  const classes = ORDER.filter((each) => (counts[each] ?? 0) > 0);
  const rank = ({ outcome }: StudioShadowResult) => ORDER.indexOf(outcome);
  const listed = results
    .filter(({ outcome }) => status === undefined || outcome === status)
    .sort((a, b) => rank(a) - rank(b));
  return (
    <>
      <div class="filters">
        <nav class="choices" aria-label={strings.shadow.title}>
          {[undefined, ...classes].map((each) => (
            <a
              key={each ?? "all"}
              href={withQuery({ status: each })}
              aria-current={status === each ? "true" : undefined}
            >
              {each === undefined
                ? strings.list.all
                : `${nameOf(each)} ${counts[each]?.toLocaleString("en")}`}
            </a>
          ))}
        </nav>
      </div>
      <p class="shadow-summary">
        {visible(summary)}{" "}
        <span class="dim">
          {against !== null && visible(strings.shadow.file(against))} <Ago at={at} />
        </span>
      </p>
      {listed.length === 0 ? (
        <Empty title={status === undefined ? strings.shadow.allSame : strings.allRuns.noMatch} />
      ) : (
        <ul class="shadow-list" aria-label={strings.shadow.title}>
          {listed.map((result) => (
            <Result key={`${result.thread_id} ${result.run_ids[0]}`} result={result} />
          ))}
        </ul>
      )}
    </>
  );
}

const nameOf = (outcome: string): string => strings.shadow.outcomes[outcome] ?? visible(outcome);

function Result({
  result: { thread_id, graph_id, outcome, difference, reason },
}: {
  result: StudioShadowResult;
}) {
  return (
    <li>
      <p>
        <strong>{nameOf(outcome)}</strong>
        <a href={href(["threads", thread_id])}>
          <code>{visible(thread_id)}</code>
        </a>
        {graph_id !== null && <span class="dim">{visible(graph_id)}</span>}
      </p>
      {difference && <Difference {...difference} />}
      {reason !== null && <p class="dim">{visible(reason)}</p>}
    </li>
  );
}

function Difference({ place: at, before, now }: NonNullable<StudioShadowResult["difference"]>) {
  const [old, next] = [textOf(before), textOf(now)];
  const sides = (
    <>
      <dd>
        <span class="visually-hidden">{strings.shadow.before} </span>
        <del>{visible(old)}</del>
      </dd>
      <dd>
        <span class="visually-hidden">{strings.shadow.now} </span>
        <ins>{visible(next)}</ins>
      </dd>
    </>
  );
  return (
    <dl>
      <dt class="dim">{visible(at)}</dt>
      {isLong(old) && isLong(next) ? (
        <dd class="shadow-words">
          <ChangedText before={old} after={next}>
            <dl>{sides}</dl>
          </ChangedText>
        </dd>
      ) : (
        sides
      )}
    </dl>
  );
}

/** Values are stored as JSON, statuses and nodes as text. */
function textOf(stored: string): string {
  try {
    const value = JSON.parse(stored) as unknown;
    return typeof value === "string" ? value : jsonText(value);
  } catch {
    return stored;
  }
}

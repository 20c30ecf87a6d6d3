import { useEffect, useState } from "preact/hooks";
import { isFinished, type RunStatus } from "../../src/models/run-status.js";
import { reportedTokens } from "../../src/models/token-counts.js";
import { type ApiError, isReadOnly } from "../api.js";
import { Empty, Fault, Waiting } from "../components/common.js";
import { CopyAs } from "../components/copy-as.js";
import { RunActions, useRecordings } from "../components/run-actions.js";
import { EndOfList } from "../components/end-of-list.js";
import { runCostText } from "../components/costs.js";
import { Table, TableRow } from "../components/table.js";
import { ListHead, MetaField, StatusChoices } from "../components/list-head.js";
import { Ago, msText, visible } from "../components/text.js";
import { go, href, place, withQuery } from "../router.js";
import {
  cancelRun,
  DEFAULT_SORT,
  hasMoreRuns,
  type ListedRun,
  loadMoreRuns,
  placeOfRun,
  refreshRuns,
  reloadRuns,
  RUN_STATUSES,
  runPage,
  runs,
  SINCE,
} from "../state/all-runs.js";
import { onChange, throttled } from "../state/changes.js";
import { cancelAction } from "../state/live-run.js";
import { failureText } from "../state/schema-issues.js";
import { strings } from "../strings.js";

/** Minimum interval of reloads after changes. */
const REFRESH_MS = 700;

export function Runs() {
  const { status, graph, meta, since, sort } = place.value.query;
  useEffect(() => void reloadRuns(), [status, graph, meta, since, sort]);
  useEffect(() => onChange(throttled(refreshRuns, REFRESH_MS)), []);
  return (
    <main id="content" class="screen list-screen" tabIndex={-1}>
      <ListHead title={strings.allRuns.title} reload={() => void reloadRuns()} />
      <Filters />
      <List />
    </main>
  );
}

function Filters() {
  const { graph = "", since = "" } = place.value.query;
  const change = (changes: Record<string, string>) => go(withQuery(changes), { replace: true });
  return (
    <div class="filters">
      <StatusChoices
        statuses={RUN_STATUSES}
        show={(each) => (each ? <Status status={each} /> : strings.list.all)}
      />
      <div class="fields is-three">
        <label>
          <span>{strings.allRuns.graph}</span>
          <input
            type="search"
            data-slash
            value={graph}
            onChange={({ currentTarget }) => change({ graph: currentTarget.value.trim() })}
          />
        </label>
        <MetaField />
        <label>
          <span>{strings.allRuns.since}</span>
          <select value={since} onChange={({ currentTarget }) => change({ since: currentTarget.value })}>
            <option value="">{strings.allRuns.ever}</option>
            {Object.keys(SINCE).map((each) => (
              <option key={each} value={each}>
                {strings.allRuns[each as keyof typeof SINCE]}
              </option>
            ))}
          </select>
        </label>
      </div>
    </div>
  );
}

function List() {
  const [refusal, setRefusal] = useState<ApiError | undefined>(undefined);
  const error = runPage.error.value;
  useRecordings(runs.value);
  if (error && runs.value.length === 0) return <Fault error={error} retry={() => void reloadRuns()} />;
  if (runs.value.length === 0) {
    if (runPage.busy.value) return <Waiting />;
    const { status, graph, meta, since } = place.value.query;
    if (status || graph || meta || since) return <Empty title={strings.allRuns.noMatch} />;
    return (
      <Empty
        title={strings.allRuns.none}
        hint={strings.allRuns.noneHint}
        command='graph-serve run --message "hello"'
      />
    );
  }
  return (
    <>
      {refusal && <Fault error={refusal} />}
      <Table
        label={strings.allRuns.title}
        sort={DEFAULT_SORT}
        columns={[
          { title: strings.list.status, sort: "status" },
          { title: strings.allRuns.graph, class: "is-main" },
          { title: strings.allRuns.runId },
          { title: strings.allRuns.threadId },
          { title: strings.allRuns.duration, class: "is-number", sort: "duration" },
          { title: strings.list.tokens, class: "is-number", sort: "tokens" },
          { title: strings.usage.columns.cost, class: "is-number" },
          { title: strings.allRuns.since, class: "is-number", sort: "created_at" },
        ]}
      >
        {runs.value.map((run) => (
          <Row key={run.run_id} run={run} onFault={setRefusal} />
        ))}
      </Table>
      {error && <Fault error={error} retry={() => void loadMoreRuns()} />}
      <EndOfList
        count={runs.value.length}
        page={runPage}
        hasMore={hasMoreRuns.value}
        more={() => void loadMoreRuns()}
        text={strings.allRuns.loaded(runs.value.length)}
      />
    </>
  );
}

function Row({ run, onFault }: { run: ListedRun; onFault: (error: ApiError | undefined) => void }) {
  const { thread_id, run_id, status, created_at, updated_at, error, usage } = run;
  const tokens = reportedTokens(usage).total_tokens;
  const open = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void placeOfRun(run).then(go, onFault);
  };
  const stop = () => {
    onFault(undefined);
    void cancelRun(run).catch(onFault);
  };
  return (
    <TableRow version={updated_at}>
      <td>
        <Status status={status} />
      </td>
      <td class="is-main">
        <a class="row-link" href={href(["threads", thread_id])} onClick={open}>
          <span class="row-title">{visible(graphOf(run))}</span>
          {error !== null && (
            <span class="bad">{visible(failureText(error).slice(0, 300)).replaceAll("\n", " ")}</span>
          )}
        </a>
      </td>
      <td>
        <code title={run_id}>{run_id.slice(0, 13)}</code>
      </td>
      <td>
        <code title={thread_id}>{visible(thread_id.slice(0, 13))}</code>
      </td>
      <td class="is-number is-on-card">
        {isFinished(run) ? msText(Date.parse(updated_at) - Date.parse(created_at)) : "–"}
      </td>
      <td class={`is-number is-tokens ${tokens > 0 ? "is-on-card" : ""}`}>
        {tokens > 0 ? tokens.toLocaleString("en") : "–"}
      </td>
      <td class={`is-number is-cost ${tokens > 0 ? "is-on-card" : ""}`}>{runCostText(usage)}</td>
      <td class="is-number">
        <Ago at={created_at} />
      </td>
      <td class="row-actions">
        {isFinished(run) && <RunActions threadId={thread_id} runId={run_id} onFault={onFault} />}
        {!isFinished(run) && !isReadOnly && (
          <span class="run-actions">
            <button type="button" class="small" onClick={stop}>
              {strings.allRuns.cancel}
              <span class="visually-hidden"> {run_id}</span>
            </button>
            <CopyAs action={() => cancelAction({ threadId: thread_id, runId: run_id })} />
          </span>
        )}
      </td>
    </TableRow>
  );
}

const graphOf = ({ metadata, assistant_id }: ListedRun): string =>
  typeof metadata.graph_id === "string" ? metadata.graph_id : assistant_id;

/** Status is shown by shape and text too, not only by color. Colors match those of threads. */
const LOOKS: Record<RunStatus, [shape: string, like: string]> = {
  pending: ["◔", "busy"],
  running: ["◐", "busy"],
  success: ["●", "idle"],
  interrupted: ["◆", "interrupted"],
  error: ["▲", "error"],
  timeout: ["◷", "error"],
};

function Status({ status }: { status: RunStatus }) {
  const [shape, like] = LOOKS[status];
  return (
    <span class={`status is-${like}`}>
      <span aria-hidden="true">{shape}</span> {strings.allRuns.status[status]}
    </span>
  );
}

/** One thread: its steps, and the selected step in detail. */
import { useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { userNodes } from "../../src/view/diagram.js";
import { isReadOnly, shared } from "../api.js";
import { Empty, Fault, Waiting } from "../components/common.js";
import { Dock } from "../components/dock.js";
import { FailedStep } from "../components/failed-step.js";
import { ReplayNote } from "../components/replay-note.js";
import { SavePage, ShownSwitch } from "../components/thread-tools.js";
import { VersionNote } from "../components/version-note.js";
import { movedBy, rowId, Rows } from "../components/rows.js";
import { FinderButton, StepFinder } from "../components/step-finder.js";
import { Splitter } from "../components/splitter.js";
import { keyText, msText, visible } from "../components/text.js";
import { ThreadHead } from "../components/thread-head.js";
import { go, href, place } from "../router.js";
import { concerns, onChange } from "../state/changes.js";
import { live } from "../state/conversation.js";
import { stepList } from "../state/layout.js";
import { onProgress } from "../state/live-run.js";
import {
  choose,
  chosenId,
  chosenRow,
  durationOf,
  findNamed,
  follow,
  isAboveGap,
  isBranch,
  isFollowing,
  look,
  namespace,
  newerCount,
  nodesOf,
  open,
  page,
  parentOf,
  readAgain,
  refresh,
  refreshSoon,
  row,
  rows,
  see,
  stepHref,
  steps,
  subgraphs,
  threadId,
} from "../state/thread.js";
import type { Step } from "../state/step-list.js";
import { shown } from "../state/shown.js";
import { readKeys } from "../state/state-keys.js";
import { graphOf } from "../state/threads.js";
import { measure, measuredOf } from "../state/times.js";
import { Lane } from "../components/lane.js";
import { path, placed, width } from "../state/branches.js";
import { failureText } from "../state/schema-issues.js";
import { strings } from "../strings.js";
import { Inspector } from "./inspector.js";

export function Thread() {
  const [id, ns] = [threadId.value, namespace.value];
  useEffect(() => void open(), [id, ns, shown.value]);
  useEffect(readKeys, [row.value.value?.thread_id, ns]);
  useSignalEffect(look);
  useSignalEffect(findNamed);
  useEffect(() => {
    // The stream of a run already reports changes.
    const stop = onChange((changes) => void (!live.peek() && concerns(changes, id) && refresh()));
    const forget = onProgress((of) => void (of === id && refreshSoon()));
    return () => {
      forget();
      stop();
    };
  }, [id, ns]);
  const error = row.error.value;
  // Without its status, a loaded thread stays, unless it was deleted.
  if (error && (!row.value.value || error.status === 404)) {
    return (
      <main id="content" class="screen narrow" tabIndex={-1}>
        <h1>{strings.threads}</h1>
        <Fault error={error} retry={() => void open()} />
      </main>
    );
  }
  return (
    <main id="content" class="screen thread-screen" tabIndex={-1}>
      <Head />
      {steps.value.length === 0 ? (
        <Nothing />
      ) : (
        <div class="panes" style={{ "--pane": `${stepList.width.value}px` }}>
          <StepList />
          <Splitter pane={stepList} side="left" label={strings.layout.steps} />
          <Inspector />
        </div>
      )}
      {!isReadOnly && <Dock />}
    </main>
  );
}

function Head() {
  const thread = row.value.value;
  const ns = namespace.value;
  return (
    <header class="screen-head thread-head">
      <ThreadHead id={threadId.value} thread={thread}>
        {thread && <ShownSwitch />}
        {thread && <SavePage key={thread.thread_id} graph={graphOf(thread)} />}
        {thread && !shared && (
          <button type="button" class="small" data-refresh onClick={() => void refresh()}>
            {strings.refresh}
          </button>
        )}
      </ThreadHead>
      {thread && <ReplayNote threadId={thread.thread_id} metadata={thread.metadata} />}
      {thread && <VersionNote id={thread.thread_id} updatedAt={thread.updated_at} />}
      {thread?.error != null && <p class="bad one-line small-text">{visible(failureText(thread.error))}</p>}
      {ns !== "" && (
        <p class="within">
          {strings.thread.within} <code>{visible(ns.replaceAll(/:[\w-]{36}/g, ""))}</code>
          <a href={href(["threads", threadId.value], { tab: place.value.query.tab })}>
            {strings.thread.root}
          </a>
        </p>
      )}
    </header>
  );
}

function Nothing() {
  if (page.error.value) return <Fault error={page.error.value} retry={() => void open()} />;
  if (page.busy.value || !row.value.value) return <Waiting />;
  return (
    <Empty
      title={strings.thread.empty}
      hint={strings.thread.emptyHint}
      command={`graph-serve run --thread ${threadId.value} --message "hello"`}
    />
  );
}

const LIST = "steps";
const ROW = 52;

function StepList() {
  const all = rows.value;
  const onKey = (event: KeyboardEvent) => {
    const to = movedBy(event.key, chosenRow.value, all.count);
    if (to === undefined || event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    void choose(to);
  };
  return (
    <section class="steps" aria-label={strings.thread.steps}>
      <header class="pane-head">
        <h2>{strings.thread.steps}</h2>
        {!shared && <FinderButton />}
        {!isFollowing.value && (
          <button type="button" class="small" data-newest onClick={follow}>
            {newerCount.value > 0 ? strings.thread.newer(newerCount.value) : strings.thread.follow}
          </button>
        )}
      </header>
      <StepFinder />
      <FailedStep />
      <Rows
        id={LIST}
        role="listbox"
        label={strings.thread.steps}
        count={all.count}
        height={ROW}
        active={chosenRow.value}
        onKey={onKey}
        onSeen={(from, to) => page.error.value === undefined && void see(from, to)}
        row={rowAt}
      />
      {page.error.value && <Fault error={page.error.value} retry={readAgain} />}
    </section>
  );
}

function rowAt(row: number) {
  const place = rows.value.placeAt(row);
  const step = place === undefined ? undefined : steps.value[place];
  if (place === undefined || !step) return <Unread key={`row ${row}`} row={row} />;
  const above = steps.value[place - 1];
  return (
    <StepRow
      key={step.id}
      step={step}
      above={above && !isAboveGap(above) ? above : undefined}
      place={place}
      row={row}
    />
  );
}

/** Placeholder of a step that is being loaded. */
const Unread = ({ row }: { row: number }) => (
  <div id={rowId(LIST, row)} class="row step is-unread dim" role="option" aria-selected={false}>
    {strings.loading}
  </div>
);

interface StepRowProps {
  step: Step;
  /** The next newer step; undefined if it is not loaded. */
  above: Step | undefined;
  place: number;
  row: number;
}

function StepRow({ step, above, place, row: at }: StepRowProps) {
  const isChosen = step.id === chosenId.value;
  const between = durationOf(step);
  const isMeasured = between === undefined && parentOf(step) !== undefined;
  useEffect(() => void (isMeasured && measure(step)), [isMeasured, step.id]);
  const ms = between ?? measuredOf(step);
  return (
    <div
      id={rowId(LIST, at)}
      class="row step"
      role="option"
      aria-selected={isChosen}
      onClick={() => go(stepHref(step.id), { replace: true })}
    >
      <StepLane step={step} place={place} />
      <span class="number">{step.number ?? "·"}</span>
      <span class="step-main">
        <span class="one-line">{titleOf(step)}</span>
        <span class="dim one-line small-text">{changedText(step)}</span>
      </span>
      <span class="badges">
        {isBranch(step, above) && <span class="visually-hidden">{strings.thread.branch}</span>}
        {step.asks > 0 && <span class="badge is-asks">{strings.thread.asks}</span>}
        {ms !== undefined && <span class="dim small-text">{msText(ms)}</span>}
      </span>
    </div>
  );
}

function StepLane({ step, place }: Pick<StepRowProps, "step" | "place">) {
  const lane = placed.value[place];
  if (!lane) return null;
  return (
    <Lane
      placed={lane}
      lanes={width.value}
      height={ROW}
      path={path.value}
      isOnPath={path.value.has(step.id)}
      isHollow={step.source !== "loop"}
    />
  );
}

function titleOf(step: Step) {
  const { source } = step;
  if (source === "input") return <span class="kind">{strings.thread.input}</span>;
  if (source === "update") return <span class="kind">{strings.thread.update}</span>;
  if (source === "fork") return <span class="kind">{strings.thread.fork}</span>;
  const nodes = nodesOf(step);
  if (nodes === undefined) return "…";
  if (nodes.length === 0) return <span class="kind">{strings.thread.start}</span>;
  return [...new Set(nodes)].map((name) => (
    <span class={`node ${subgraphs.value.has(name) ? "is-graph" : ""}`} key={name}>
      {visible(name)}
      {countOf(nodes, name)}
    </span>
  ));
}

/** A node may run several times in one step. */
function countOf(nodes: readonly string[], name: string): string {
  const count = nodes.filter((each) => each === name).length;
  return count > 1 ? ` ×${count}` : "";
}

function changedText(step: Step): string {
  const { next, asks } = step;
  const wrote = visible(wroteText(step));
  // The badge describes the next tasks, so they come first.
  if (wrote !== "" && asks === 0) return wrote;
  const names = [...new Set(userNodes(next))];
  const then = names.length > 0 ? strings.thread.next(visible(names.join(", "))) : "";
  return [then, wrote].filter(Boolean).join(" · ");
}

/** `+1 AI message, 3 tool calls · plan`, or `changed plan` without numbers of messages. */
function wroteText({ changed, messages }: Step): string {
  const words = strings.thread;
  const counted = Object.entries(messages).map(([key, { added, tool_calls, removed, replaced }]) => {
    const parts = Object.entries(added).map(([type, number]) => words.added(number, type));
    if (tool_calls > 0) parts.push(words.calls(tool_calls));
    if (removed > 0) parts.push(words.removed(removed));
    if (replaced > 0) parts.push(words.replaced(replaced));
    return words.messages(key, parts);
  });
  const others = (changed ?? [])
    .filter((key) => !Object.hasOwn(messages, key))
    .map(keyText)
    .join(", ");
  if (counted.length > 0) return [...counted, others].filter(Boolean).join(" · ");
  return others === "" ? "" : `${words.wrote} ${others}`;
}

/** Changes of a step by state key, with previous values and the nodes that wrote them. */
import { useState } from "preact/hooks";
import { isMessageLike, isRecord } from "../../src/models/json.js";
import type { ThreadState, ThreadTask } from "../../src/models/state.js";
import { type Change, changesInSteps } from "../../src/view/changes.js";
import { isHidden } from "../state/state-keys.js";
import { strings } from "../strings.js";
import { Waiting } from "./common.js";
import { More } from "./end-of-list.js";
import { Message } from "./message.js";
import { keyText, Value, visible } from "./text.js";
import { pathText } from "./tree-rows.js";
import { useSliced } from "./use-sliced.js";
import { ChangedText, isLong } from "./changed-text.js";

/** Changes of a key that are shown initially, and that each click adds. */
const MOST = 50;

/** Without a key, the whole state changed. */
type Groups = [key: string | undefined, changes: Change[]][];

/** Groups changes by state key, in order of occurrence. */
function* changesByKey(before: unknown, after: unknown): Generator<void, Groups> {
  const groups = new Map<string | undefined, Change[]>();
  for (const change of yield* changesInSteps(before, after)) {
    const [first] = change.path;
    const key = first === undefined ? undefined : String(first);
    const group = groups.get(key);
    if (group) group.push(change);
    else groups.set(key, [change]);
  }
  return [...groups];
}

export function writersOf(key: string, tasks: readonly ThreadTask[]): string[] {
  const wrote = tasks.filter(({ result }) => isRecord(result) && Object.hasOwn(result, key));
  return [...new Set(wrote.map(({ name }) => name))];
}

/** LangGraph writes the input as a separate task. */
const nameOf = (task: string): string => (task === "__start__" ? strings.thread.start : task);

export function Changes({ state, parent }: { state: ThreadState; parent: ThreadState | undefined }) {
  const groups = useSliced(() => changesByKey(parent?.values ?? {}, state.values), [state, parent]);
  if (!groups) return <Waiting />;
  if (groups.length === 0) return <p class="dim">{whyNone(state, parent)}</p>;
  return (
    <>
      {groups.map(([key, changes]) => (
        <Group
          key={key}
          name={key}
          changes={changes}
          writers={key === undefined ? [] : writersOf(key, parent?.tasks ?? [])}
          isHidden={key !== undefined && isHidden(key)}
        />
      ))}
    </>
  );
}

/** Differences between two values, without their writers. */
export function Differences({ before, after }: { before: unknown; after: unknown }) {
  const groups = useSliced(() => changesByKey(before, after), [before, after]);
  if (!groups) return <Waiting />;
  return (
    <>
      {groups.map(([key, changes]) => (
        <Group key={key} name={key} changes={changes} writers={[]} />
      ))}
    </>
  );
}

function whyNone({ values, metadata }: ThreadState, parent: ThreadState | undefined): string {
  const isBare = !isRecord(values) || Object.keys(values).length === 0;
  if (isBare && metadata.source === "loop") return strings.thread.hidden;
  return parent ? strings.changes.none : strings.changes.first;
}

interface GroupProps {
  name: string | undefined;
  changes: Change[];
  writers: string[];
  /** Hidden from clients. */
  isHidden?: boolean;
}

function Group({ name, changes, writers, isHidden = false }: GroupProps) {
  const [most, setMost] = useState(MOST);
  const shown = changes.slice(0, most);
  return (
    <section class="part">
      <h3>
        <code>{name === undefined ? strings.changes.all : keyText(name)}</code>
        {isHidden && <span class="by hidden-key">{strings.shown.hidden}</span>}
        {writers.length > 0 && (
          <span class="by">{strings.changes.by(visible(writers.map(nameOf).join(", ")))}</span>
        )}
      </h3>
      <ul class="changes">
        {shown.map((change, index) => (
          <OneChange key={index} change={change} />
        ))}
      </ul>
      {shown.length < changes.length && (
        <More text={strings.list.loaded(shown.length, changes.length)} more={() => setMost(most + MOST)} />
      )}
    </section>
  );
}

const MARKS = { add: "+", remove: "−", replace: "~" } as const;
const SAID = {
  add: strings.changes.came,
  remove: strings.changes.went,
  replace: strings.changes.became,
} as const;

function OneChange({ change: { op, path, old, new: now } }: { change: Change }) {
  const place = pathText(path.slice(1));
  return (
    <li class={`change is-${op}`}>
      <p class={`change-head ${place === "" && op === "replace" ? "visually-hidden" : ""}`}>
        <span class="mark" aria-hidden="true">
          {MARKS[op]}
        </span>
        <span class="dim">{SAID[op]}</span>
        {place !== "" && <code>{visible(place)}</code>}
      </p>
      {op === "replace" ? <Replaced old={old} now={now} /> : <Shown value={op === "add" ? now : old} />}
    </li>
  );
}

function Replaced({ old, now }: { old: unknown; now: unknown }) {
  const sides = (
    <div class="before-after">
      <Side label={strings.changes.before} value={old} />
      <Side label={strings.changes.after} value={now} />
    </div>
  );
  if (!isLong(old) || !isLong(now)) return sides;
  return (
    <ChangedText before={old} after={now}>
      {sides}
    </ChangedText>
  );
}

function Side({ label, value }: { label: string; value: unknown }) {
  return (
    <div>
      <p class="dim side">{label}</p>
      <Shown value={value} />
    </div>
  );
}

const Shown = ({ value }: { value: unknown }) =>
  isMessageLike(value) ? <Message message={value} /> : <Value value={value} />;

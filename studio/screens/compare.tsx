/** Compares two branches: aligned steps, and the differences after each. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ThreadState } from "../../src/models/state.js";
import { changesInSteps } from "../../src/view/changes.js";
import type { Pair } from "../components/aligned.js";
import { Differences } from "../components/changes.js";
import { Empty, Fault, Waiting } from "../components/common.js";
import { CopyAs } from "../components/copy-as.js";
import { inSlices } from "../components/slices.js";
import { msText, visible } from "../components/text.js";
import { go, href } from "../router.js";
import {
  compare,
  type ComparedStep,
  comparison,
  type Comparison,
  diffAction,
  MOST_STEPS,
  named,
  stateOf,
} from "../state/compare.js";
import { load, loading } from "../state/loading.js";
import { fileRef, openFile } from "../state/opened-files.js";
import { strings } from "../strings.js";

export function Compare() {
  useEffect(compare, []);
  const { value: compared } = comparison.value;
  const isWhole = named.value.length === 2;
  return (
    <main id="content" class="screen compare" tabIndex={-1}>
      <header class="screen-head">
        <h1>{strings.compare.title}</h1>
      </header>
      <Choose />
      {!isWhole ? (
        <Empty title={strings.compare.none} hint={strings.compare.noneHint} />
      ) : comparison.error.value ? (
        <Fault error={comparison.error.value} retry={compare} />
      ) : compared ? (
        <Compared compared={compared} />
      ) : (
        <Waiting />
      )}
    </main>
  );
}

function Choose() {
  const [left = "", right = ""] = named.value;
  const [names, setNames] = useState([left, right]);
  const setName = (index: number, name: string) =>
    setNames((before) => before.map((each, at) => (at === index ? name : each)));
  return (
    <form
      class="fields choose"
      onSubmit={(event) => {
        event.preventDefault();
        go(href(["compare", ...names.map((name) => name.trim())]));
      }}
    >
      {names.map((name, index) => {
        const which = index === 0 ? strings.compare.left : strings.compare.right;
        return (
          <div key={index} class="side-name">
            <label>
              <span>{which}</span>
              <input
                required
                value={name}
                placeholder={strings.compare.place}
                onInput={({ currentTarget }) => setName(index, currentTarget.value)}
              />
            </label>
            <FileButton
              label={strings.compare.file(which)}
              onOpen={(file) => setName(index, `${fileRef(file)}@-1`)}
            />
          </div>
        );
      })}
      <button type="submit">{strings.compare.button}</button>
    </form>
  );
}

/** Opens an exported page or thread to compare, instead of a thread on the server. */
function FileButton({ label, onOpen }: { label: string; onOpen: (name: string) => void }) {
  const [fault, setFault] = useState<string | undefined>(undefined);
  const input = useRef<HTMLInputElement>(null);
  const take = async (file: File | undefined) => {
    setFault(undefined);
    if (!file) return;
    try {
      await openFile(file);
      onOpen(file.name);
    } catch (error) {
      setFault((error as Error).message);
    }
  };
  return (
    <>
      <button type="button" class="small" onClick={() => input.current?.click()}>
        {label}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        accept=".html,.json,text/html,application/json"
        onChange={({ currentTarget }) => {
          void take(currentTarget.files?.[0]);
          // Allow choosing the same file again after it has changed.
          currentTarget.value = "";
        }}
      />
      {fault !== undefined && (
        <p class="bad small-text" role="alert">
          {visible(fault)}
        </p>
      )}
    </>
  );
}

/** Pairs whose states are compared automatically. */
const MOST_READ = 30;

function Compared({ compared }: { compared: Comparison }) {
  const { left, right, steps, totals } = compared;
  const { common, pairs } = steps;
  const action = diffAction(compared);
  const rows = [
    [strings.compare.left, left, totals.left] as const,
    [strings.compare.right, right, totals.right] as const,
  ];
  return (
    <>
      <table class="compared-totals">
        <caption class="visually-hidden">{strings.compare.totals}</caption>
        <thead>
          <tr>
            {[
              strings.compare.branch,
              strings.compare.tip,
              strings.compare.steps,
              strings.compare.time,
              strings.compare.tokens,
            ].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, side, total]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <StepLink step={side.chain.at(-1)} />
              </td>
              <td>{side.chain.length - common.length}</td>
              <td>{msText(total.ms)}</td>
              <td>{total.tokens?.total_tokens.toLocaleString() ?? "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <h2>{strings.thread.steps}</h2>
      <p class="facts">
        <span>{strings.compare.common(common.length)}</span>
        {action && <CopyAs of={strings.copyAs.difference} action={() => action} />}
      </p>
      {(left.isCut || right.isCut) && <p class="small-text">{strings.compare.cut(MOST_STEPS)}</p>}
      {pairs.length === 0 && <p>{strings.compare.same}</p>}
      <ol class="pairs">
        {pairs.map((pair, index) => (
          <PairRow key={index} pair={pair} isRead={index < MOST_READ || index === pairs.length - 1} />
        ))}
      </ol>
    </>
  );
}

function StepLink({ step }: { step: ComparedStep | undefined }) {
  if (!step) return <span class="dim">–</span>;
  const { origin, id, number, title } = step;
  const name = (
    <>
      <span class="number">{number ?? "·"}</span> {visible(title)}
    </>
  );
  if (origin.file !== undefined) return <span title={visible(origin.file)}>{name}</span>;
  return <a href={href(["threads", origin.threadId, "at", id])}>{name}</a>;
}

interface Read {
  left: ThreadState;
  right: ThreadState;
  isSame: boolean;
}

async function readPair(left: ComparedStep, right: ComparedStep, isGone: () => boolean): Promise<Read> {
  const [before, after] = await Promise.all([stateOf(left), stateOf(right)]);
  const changes = await inSlices(changesInSteps(before.values, after.values), isGone);
  return { left: before, right: after, isSame: changes?.length === 0 };
}

function PairRow({ pair: { left, right }, isRead }: { pair: Pair<ComparedStep>; isRead: boolean }) {
  const [read] = useState(() => loading<Read>());
  const [isWanted, setWanted] = useState(isRead);
  const isGone = useRef(false);
  const readBoth = () => {
    if (left && right)
      void load(
        read,
        () => readPair(left, right, () => isGone.current),
        () => isGone.current,
      );
  };
  useEffect(() => void (isWanted && readBoth()), [isWanted]);
  useEffect(() => () => void (isGone.current = true), []);
  const isAlone = !left || !right;
  const { value: state } = read.value;
  return (
    <li class="pair">
      <div class="pair-head">
        <StepLink step={left} />
        <StepLink step={right} />
        <span class={`badge ${isAlone || state?.isSame === false ? "is-differs" : ""}`}>
          {isAlone
            ? strings.compare.alone
            : state
              ? state.isSame
                ? strings.compare.equal
                : strings.compare.differs
              : "…"}
        </span>
      </div>
      {read.error.value && <Fault error={read.error.value} retry={readBoth} />}
      {!isAlone && !isWanted && (
        <button type="button" class="link" onClick={() => setWanted(true)}>
          {strings.compare.open}
        </button>
      )}
      {state && !state.isSame && (
        <details open={isRead}>
          <summary>{strings.compare.values}</summary>
          <Differences before={state.left.values} after={state.right.values} />
        </details>
      )}
    </li>
  );
}

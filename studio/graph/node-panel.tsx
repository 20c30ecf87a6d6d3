/** What a node did when it last ran, beside the graph. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isMessageLike, isRecord } from "../../src/models/json.js";
import type { RunTask } from "../../src/models/run.js";
import { errorLine } from "../../src/view/text.js";
import { Message, type MessageLike } from "../components/message.js";
import { costNote, costText } from "../components/costs.js";
import { costOf, tokensIn } from "../components/prices.js";
import { Copy, jsonText, msText, visible } from "../components/text.js";
import { isStoppable } from "../state/breakpoints.js";
import { type NodeRun, nodeRun, readNodeState } from "../state/node-run.js";
import { prices } from "../state/prices.js";
import { strings } from "../strings.js";
import { nameOf } from "./layout-names.js";

interface NodePanelProps {
  id: string;
  isStop: boolean;
  onStop: (node: string) => void;
  onClose: () => void;
}

export function NodePanel({ id, isStop, onStop, onClose }: NodePanelProps) {
  const box = useRef<HTMLElement>(null);
  useEffect(() => box.current?.focus(), [id]);
  const shown = useRef(id);
  shown.current = id;
  // The focus returns to the node that opened the panel.
  useLayoutEffect(() => {
    const panel = box.current;
    return () => void (panel?.contains(document.activeElement) && focusNode(shown.current));
  }, []);
  const run = nodeRun(id);
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    onClose();
  };
  return (
    <aside
      ref={box}
      class="node-panel"
      tabIndex={-1}
      aria-label={strings.node.title(visible(id))}
      onKeyDown={onKey}
    >
      <header>
        <h2 class="one-line">{visible(nameOf(id))}</h2>
        {id.includes(":") && (
          <code class="dim one-line">{visible(id.slice(0, id.lastIndexOf(":")).replaceAll(":", " › "))}</code>
        )}
        {isStoppable(id) && (
          <button
            type="button"
            class="small"
            aria-pressed={isStop}
            data-breakpoint
            onClick={() => onStop(id)}
          >
            {isStop ? strings.node.stopSet : strings.node.stop}
          </button>
        )}
        <button type="button" class="small" aria-label={strings.node.close} title="Esc" onClick={onClose}>
          ✕
        </button>
      </header>
      {run ? <Details key={`${id} ${run.tasks.length}`} run={run} /> : <p class="dim">{strings.node.idle}</p>}
    </aside>
  );
}

const focusNode = (id: string): void =>
  document.querySelector<SVGGElement>(`[data-node="${CSS.escape(id)}"]`)?.focus();

function Details({ run }: { run: NodeRun }) {
  const [{ before, task }, setState] = useState<Pick<NodeRun, "before" | "task">>(run);
  const last = run.tasks.at(-1);
  useEffect(() => {
    let isGone = false;
    void readNodeState(run).then((found) => !isGone && setState(found));
    return () => (isGone = true);
  }, [last?.namespace, last?.state]);
  const messages = isRecord(task?.result) ? messagesIn(task.result) : [];
  return (
    <>
      <Facts run={run} />
      {task?.error != null && <p class="bad node-error">{visible(errorLine(task.error))}</p>}
      {task?.result != null && <Part title={strings.node.writes} value={withoutMessages(task.result)} />}
      {messages.map((message, index) => (
        <Message key={index} message={message} />
      ))}
      {run.calls.length > 0 && (
        <section>
          <h3>{strings.node.calls}</h3>
          <ul class="node-calls">
            {run.calls.map((call, index) => (
              <Call key={index} call={call} />
            ))}
          </ul>
        </section>
      )}
      {before && <Part title={strings.node.input} value={before.values} />}
    </>
  );
}

const messagesIn = (result: Record<string, unknown>): MessageLike[] =>
  Object.values(result).flat().filter(isMessageLike);

function withoutMessages(result: unknown): unknown {
  if (!isRecord(result)) return result;
  const others = Object.entries(result).filter(([, value]) => ![value].flat().some(isMessageLike));
  return others.length === 0 ? undefined : Object.fromEntries(others);
}

function Facts({ run }: { run: NodeRun }) {
  const last = run.tasks.at(-1);
  const models = run.calls.filter(({ kind }) => kind === "model");
  const tokens = tokensIn(models).total_tokens;
  const ms =
    last && last.ended_at !== null ? Date.parse(last.ended_at) - Date.parse(last.started_at) : undefined;
  const facts: [string, string][] = [
    [strings.node.time, ms === undefined ? strings.drawing.running : msText(ms)],
    [strings.node.tokens, tokens === 0 ? "–" : tokens.toLocaleString()],
    [strings.node.cost, costText(costOf(models, prices.value))],
    [strings.node.ran, strings.node.times(run.tasks.length)],
  ];
  return (
    <dl class="node-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Call({ call }: { call: RunTask }) {
  const { kind, name, state, started_at, ended_at, usage } = call;
  return (
    <li>
      <span class={state === "failed" ? "bad" : "good"} aria-hidden="true">
        {state === "failed" ? "✕" : "✓"}
      </span>{" "}
      <code>{visible(name)}</code> <span class="dim">{kind}</span>
      <span class="dim node-ms">
        {usage &&
          `${strings.times.tokens(usage.total_tokens)} · ${costNote(costText(costOf([call], prices.value)))} · `}
        {ended_at === null ? strings.drawing.running : msText(Date.parse(ended_at) - Date.parse(started_at))}
      </span>
    </li>
  );
}

const MOST_TEXT = 4000;

function Part({ title, value }: { title: string; value: unknown }) {
  if (value === undefined) return null;
  const text = jsonText(value);
  return (
    <section class="node-part">
      <header>
        <h3>{title}</h3>
        <Copy text={() => text} />
      </header>
      <pre class="text code" tabIndex={0}>
        {visible(text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text)}
      </pre>
    </section>
  );
}

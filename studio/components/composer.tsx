/** Input editor with three views of one value: message, form and JSON. */
import type { TargetedKeyboardEvent } from "preact";
import { useEffect } from "preact/hooks";
import { said } from "../state/attached.js";
import {
  choose,
  clearSent,
  configShape,
  configurable,
  context,
  contextShape,
  conversation,
  earlier,
  earlierLine,
  type Face,
  face,
  faces,
  faults,
  hasForm,
  input,
  inputShape,
  loadEarlier,
  remember,
  wish,
} from "../state/composer.js";
import { isSending, live, refusal, run, threadId } from "../state/conversation.js";
import { runAction } from "../state/copy-as.js";
import { type Draft, messageOf, type Said, withMessage } from "../state/draft.js";
import { graphId } from "../state/graphs.js";
import type { Shape } from "../state/shape.js";
import { strings } from "../strings.js";
import { Breakpoints } from "./asking.js";
import { Attached, paste } from "./attached.js";
import { CopyAs } from "./copy-as.js";
import { brokenGraph } from "./problems.js";
import { Fault } from "./common.js";
import { movedAcross } from "./rows.js";
import { JsonBox, SchemaForm } from "./schema-form.js";
import { visible } from "./text.js";

const NO_FAULTS = new Map<string, string>();

export function Composer() {
  const [id, graph, isLive] = [threadId.value, graphId.value, live.value !== undefined];
  useEffect(() => void loadEarlier(), [id, graph, isLive]);
  const shown = face.value;
  const onKey = (event: KeyboardEvent) => {
    const isOnly =
      shown === "message" && event.target instanceof HTMLTextAreaElement && isMessageBox(event.target);
    const sends = event.key === "Enter" && (event.ctrlKey || event.metaKey || (isOnly && !event.shiftKey));
    if (!sends || event.isComposing) return;
    event.preventDefault();
    void send();
  };
  return (
    <form
      class="composer"
      aria-label={strings.composer.title}
      onKeyDown={onKey}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div class="face" id="face" role="tabpanel" aria-labelledby={`face-${shown}`}>
        {shown === "message" ? <MessageFace /> : shown === "form" ? <FormFace /> : <JsonFace />}
      </div>
      <Broken shown={shown} />
      <Options />
      <Head />
      <Breakpoints />
      {refusal.value && <Fault error={refusal.value} />}
      {brokenGraph(graphId.value) && <p class="bad">{strings.problems.noRun(visible(graphId.value))}</p>}
      <footer class="composer-end">
        <CopyAs action={() => runAction(graphId.value, threadId.value, wish())} />
        <button type="submit" class="main" aria-disabled={!isReady()} title={strings.composer.keys}>
          {isSending.value ? strings.composer.sending : strings.composer.send}
        </button>
      </footer>
    </form>
  );
}

const isMessageBox = (element: HTMLElement): boolean => element.id === "message";

const isReady = (): boolean =>
  [input, configurable, context].every(({ isReady: { value } }) => value) &&
  !isSending.value &&
  live.value === undefined &&
  graphId.value !== "" &&
  brokenGraph(graphId.value) === undefined;

async function send(): Promise<void> {
  if (!isReady()) return;
  // The page may show something else before the request ends.
  const [asked, graph, from] = [wish(), graphId.peek(), conversation.peek()];
  if (!(await run(asked))) return;
  remember(graph, asked.input);
  clearSent(from, asked.input);
}

function Head() {
  const shown = face.value;
  const onKey = (event: TargetedKeyboardEvent<HTMLElement>) => {
    const all = faces.value;
    const to = movedAcross(event.key, all.indexOf(shown), all.length);
    if (to === undefined) return;
    event.preventDefault();
    const next = all[to] as Face;
    choose(next);
    document.getElementById(`face-${next}`)?.focus();
  };
  return (
    <header class="composer-head">
      <div class="choices" role="tablist" aria-label={strings.composer.title} onKeyDown={onKey}>
        {faces.value.map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            id={`face-${each}`}
            class="small"
            aria-selected={each === shown}
            aria-controls="face"
            tabIndex={each === shown ? 0 : -1}
            onClick={() => choose(each)}
          >
            {strings.composer.faces[each]}
          </button>
        ))}
      </div>
      <Earlier />
    </header>
  );
}

function Earlier() {
  if (earlier.value.length === 0) return null;
  return (
    <span class="earlier">
      <select
        aria-label={strings.composer.earlier}
        value=""
        onChange={({ currentTarget }) => {
          input.set(earlier.value[Number(currentTarget.value)]);
          currentTarget.value = "";
        }}
      >
        <option value="" hidden>
          {strings.composer.earlier}
        </option>
        {earlier.value.map((value, index) => (
          <option key={index} value={String(index)}>
            {visible(earlierLine(value))}
          </option>
        ))}
      </select>
    </span>
  );
}

function MessageFace() {
  const now = said();
  if (!now) return <p class="dim">{strings.composer.several}</p>;
  const { text, files } = now;
  const recall = (event: KeyboardEvent) => {
    const last = earlier.value.find((value) => !isSilent(messageOf(value)));
    if (event.key !== "ArrowUp" || text !== "" || last === undefined) return;
    event.preventDefault();
    input.set(last);
  };
  return (
    <>
      <textarea
        id="message"
        dir="auto"
        data-slash
        aria-label={strings.composer.messageHint}
        placeholder={strings.composer.messageHint}
        rows={Math.min(8, text.split("\n").length)}
        value={text}
        onKeyDown={recall}
        onPaste={paste}
        onInput={({ currentTarget }) =>
          input.set(withMessage(input.value.value, { text: currentTarget.value, files }))
        }
      />
      <Attached />
    </>
  );
}

const isSilent = (said: Said | undefined): boolean => !said || (said.text === "" && said.files.length === 0);

function FormFace() {
  if (!hasForm.value) return <p class="dim">{strings.composer.noForm}</p>;
  return <SchemaForm id="input" shape={inputShape.value} draft={input} faults={faults.value} />;
}

/** What cannot be sent and another view shows: JSON text, or fields of the form. */
function Broken({ shown }: { shown: Face }) {
  const fault = shown === "json" ? undefined : input.fault.value;
  if (fault) return <p class="hint bad">{strings.composer.fault(fault.line, fault.column)}</p>;
  const [path] = shown === "form" ? [] : input.unfit.value.keys();
  if (path === undefined) return null;
  return <p class="hint bad">{strings.composer.unfit(visible((JSON.parse(path) as unknown[]).join(".")))}</p>;
}

const JsonFace = () => <JsonBox id="json" label={strings.composer.json} draft={input} />;

/** Shown only if the graph declares configuration or context. */
function Options() {
  const parts: [string, string, Shape, Draft][] = [
    ["config", strings.composer.config, configShape.value, configurable],
    ["context", strings.composer.context, contextShape.value, context],
  ];
  const shown = parts.filter(([, , { kind }]) => kind === "object");
  if (shown.length === 0) return null;
  return (
    <details class="options">
      <summary>{strings.composer.options}</summary>
      {shown.map(([id, label, shape, draft]) => (
        <fieldset class="group" key={id}>
          <legend>{label}</legend>
          <SchemaForm id={id} shape={shape} draft={draft} faults={NO_FAULTS} />
        </fieldset>
      ))}
    </details>
  );
}

/** Fork from a step: the values to write per state key, and the next run. */
import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { isRecord } from "../../src/models/json.js";
import type { ThreadState } from "../../src/models/state.js";
import { messageLine } from "../../src/view/text.js";
import { Fault, Section } from "../components/common.js";
import { CopyAs } from "../components/copy-as.js";
import { JsonEditor } from "../components/json-editor.js";
import type { MessageLike } from "../components/message.js";
import { jsonText, keyText, LongText, visible } from "../components/text.js";
import { CONTENT, useFocusKept } from "../focus.js";
import { href } from "../router.js";
import { drawing, drawThread } from "../state/drawing.js";
import {
  addMessage,
  asNode,
  body,
  drafts,
  failure,
  faultOf,
  isForking,
  isSending,
  openDrafts,
  reset,
  runAction,
  runUnchanged,
  setDraft,
  statePath,
  undo,
  undoAction,
  write,
  type Written,
  writeAction,
  writeAndRunAction,
  written,
} from "../state/fork.js";
import { channels, declaredKeys } from "../state/state-keys.js";
import { chosenId, chosenStep, namespace, stepHref, threadId } from "../state/thread.js";
import { strings } from "../strings.js";

/** Id of the list of steps, whose key `f` opens the fork. */
const LIST = "steps";

export function Fork({ state }: { state: ThreadState }) {
  useSignalEffect(drawThread);
  const step = state.checkpoint?.checkpoint_id;
  useEffect(() => void (step != null && openDrafts(step)), [step]);
  const values = isRecord(state.values) ? state.values : {};
  const keys = [...new Set([...Object.keys(values), ...declaredKeys.value])];
  const isInner = namespace.value !== "";
  const isEmpty = Object.keys(drafts.value).length === 0 && asNode.value === "";
  return (
    <section class="fork" tabIndex={-1} aria-label={strings.fork.title}>
      <header class="fork-head">
        <h3>{strings.fork.at(chosenStep.value?.number ?? undefined)}</h3>
        <a href={stepHref(chosenId.value, { fork: undefined })} data-close onClick={reset}>
          {strings.close}
        </a>
      </header>
      <p class="dim small-text">{strings.fork.note}</p>
      {keys.map((key) => (
        <Key key={key} name={key} value={values[key]} />
      ))}
      <AsNode />
      {!isEmpty && <WillSend />}
      {failure.value && <Fault error={failure.value} />}
      <p class="actions">
        <button
          type="button"
          class="main"
          disabled={isEmpty || !body.value || isSending.value}
          onClick={() => void write(false)}
        >
          {strings.fork.write}
        </button>
        {!isInner && (
          <>
            <button
              type="button"
              disabled={isEmpty || !body.value || isSending.value}
              onClick={() => void write(true)}
            >
              {strings.fork.writeAndRun}
            </button>
            <button type="button" disabled={!isEmpty || isSending.value} onClick={() => void runUnchanged()}>
              {strings.fork.run}
            </button>
          </>
        )}
        {isEmpty && !isInner && <CopyAs action={runAction} />}
        {!isEmpty && body.value && <CopyAs action={writeAction} />}
        {!isEmpty && !isInner && body.value && (
          <CopyAs of={strings.copyAs.writeAndRun} action={writeAndRunAction} />
        )}
      </p>
    </section>
  );
}

const isMessages = (value: unknown): value is MessageLike[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((item) => isRecord(item) && typeof item.type === "string");

/** Moves the focus to the fork when it opens, and back when it closes. */
export function useForkFocus(): void {
  const isOpen = isForking.value;
  const wasOpen = useRef(isOpen);
  const opener = useRef<Element | null>(null);
  useEffect(() => {
    if (wasOpen.current === isOpen) return;
    wasOpen.current = isOpen;
    const { activeElement: focused, body: nowhere } = document;
    if (isOpen) {
      opener.current = focused?.id === LIST ? focused : null;
      document.querySelector<HTMLElement>(".fork")?.focus();
    } else if (focused === nowhere || focused?.id === CONTENT) {
      const back = opener.current ?? document.querySelector("[data-fork]");
      if (back instanceof HTMLElement) back.focus();
    }
  }, [isOpen]);
}

/** What a write to the key does. Graphs that are not loaded have no channels: then the value shows messages at most. */
function effectOf(name: string, isList: boolean): string {
  const kind = channels.value[name]?.kind ?? (isList ? "messages" : "unknown");
  return strings.fork.effects[kind];
}

function Key({ name, value }: { name: string; value: unknown }) {
  const draft = drafts.value[name];
  const isList = channels.value[name]?.kind === "messages" || channels.value[name] === undefined;
  const messages = isList && isMessages(value) ? value : undefined;
  return (
    <Section
      title={
        <>
          <code>{keyText(name)}</code>
          {draft === undefined ? (
            <button
              type="button"
              class="small"
              aria-label={strings.fork.editKey(keyText(name))}
              onClick={() => setDraft(name, messages ? "[]" : jsonText(value ?? null))}
            >
              {strings.fork.edit}
            </button>
          ) : (
            <button type="button" class="small" onClick={() => setDraft(name, undefined)}>
              {strings.fork.leave}
            </button>
          )}
        </>
      }
    >
      {draft !== undefined && (
        <>
          <p class="dim small-text">{effectOf(name, messages !== undefined)}</p>
          {messages && <Messages name={name} messages={messages} />}
          <Editor name={name} text={draft} />
        </>
      )}
    </Section>
  );
}

function Editor({ name, text }: { name: string; text: string }) {
  const fault = faultOf(text);
  const id = `draft-${name}`;
  return (
    <div>
      <JsonEditor
        text={text}
        label={strings.fork.valueOf(visible(name))}
        isInvalid={fault !== undefined}
        fault={fault}
        faultId={id}
        onText={(next) => setDraft(name, next)}
      />
      {fault && (
        <p id={id} class="bad small-text" role="alert">
          {strings.fork.fault(fault.line, fault.column)}
        </p>
      )}
    </div>
  );
}

/** Only the last messages can be selected. */
const MOST_MESSAGES = 50;

function Messages({ name, messages }: { name: string; messages: MessageLike[] }) {
  return (
    <ul class="fork-messages">
      {messages.slice(-MOST_MESSAGES).map((message, index) => {
        const { id, type, content } = message;
        if (typeof id !== "string") return null;
        const line = messageLine(message);
        const said = line === `${type}: ` ? `${line}${jsonText(content)}` : line;
        return (
          <li key={id}>
            <span class="one-line">{visible(said.slice(0, 200))}</span>
            <button
              type="button"
              class="small"
              aria-label={strings.fork.changeMessage(index + 1)}
              onClick={() => addMessage(name, message)}
            >
              {strings.fork.change}
            </button>
            <button
              type="button"
              class="small"
              aria-label={strings.fork.deleteMessage(index + 1)}
              onClick={() => addMessage(name, { type: "remove", id, content: "" })}
            >
              {strings.fork.delete}
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function AsNode() {
  const nodes = drawing.value?.diagram.nodes.map(({ id }) => id).filter((id) => id !== "__end__") ?? [];
  return (
    <label class="as-node">
      <span>{strings.fork.asNode}</span>
      <select value={asNode.value} onChange={({ currentTarget }) => (asNode.value = currentTarget.value)}>
        <option value="">{strings.fork.anyNode}</option>
        {nodes.map((id) => (
          <option key={id} value={id}>
            {visible(id)}
          </option>
        ))}
      </select>
    </label>
  );
}

const WillSend = () => (
  <details class="will-send">
    <summary>
      {strings.fork.sends} <code>POST {statePath()}</code>
    </summary>
    {body.value && <LongText class="code" text={jsonText(body.value)} most={2000} />}
  </details>
);

/** After a write the address moves to the new step; this note links back. */
export function WrittenNote() {
  const last = written.value;
  return last?.threadId === threadId.value ? <WrittenText {...last} /> : null;
}

function WrittenText(last: Written) {
  const box = useFocusKept<HTMLParagraphElement>();
  const { id, before } = last;
  const compared =
    before !== undefined && href(["compare", `${last.threadId}@${before}`, `${last.threadId}@-1`]);
  return (
    <p ref={box} class="written" role="status">
      <span>{id === chosenId.value ? strings.fork.written : strings.fork.wentOn}</span>
      {compared && <a href={compared}>{strings.fork.compare}</a>}
      {failure.value && <span class="bad">{visible(failure.value.message)}</span>}
      <button type="button" class="small" aria-disabled={isSending.value} onClick={() => void undo()}>
        {strings.fork.undo}
      </button>
      {before !== undefined && <CopyAs of={strings.copyAs.undo} action={() => undoAction(before)} />}
      <button type="button" class="small" onClick={() => (written.value = undefined)}>
        {strings.close}
      </button>
    </p>
  );
}

/** CodeMirror for JSON. Loaded when the first editor is shown. */
import { history, historyKeymap } from "@codemirror/commands";
import { Annotation, Compartment, EditorSelection, EditorState, type Extension } from "@codemirror/state";
import { type Command, EditorView, type KeyBinding, keymap, lineNumbers } from "@codemirror/view";
import { useLayoutEffect, useRef } from "preact/hooks";
import { StyleModule } from "style-mod";
import type { Caret, JsonEditorProps } from "./json-editor.js";
import { faultMarks, jsonMarks } from "./json-marks.js";

// CodeMirror adds a <style> element, which the content policy of the page forbids. Constructed sheets are allowed.
const mounted = new Set<StyleModule>();
StyleModule.mount = (_root, modules) => {
  const fresh = [modules].flat().filter((module) => !mounted.has(module));
  if (fresh.length === 0) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(fresh.map((module) => module.getRules()).join("\n"));
  document.adoptedStyleSheets.push(sheet);
  for (const module of fresh) mounted.add(module);
};

/** The page's own colors, which follow its theme. */
const LOOK = EditorView.theme({
  "&": { border: "1px solid var(--line-strong)", borderRadius: "6px", background: "var(--raised)" },
  "&.is-invalid": { borderColor: "var(--bad)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": {
    fontFamily: "var(--mono)",
    fontSize: "var(--small)",
    lineHeight: "1.5",
    maxHeight: "24rem",
    borderRadius: "5px",
  },
  ".cm-content": { caretColor: "var(--ink)", minHeight: "4.5em", padding: "0.375rem 0" },
  ".cm-gutters": { background: "var(--sunken)", color: "var(--dim)", borderRight: "1px solid var(--line)" },
  ".json-key": { color: "var(--accent)" },
  ".json-string": { color: "var(--good)" },
  ".json-number, .json-word": { color: "var(--info)" },
  ".json-pair": { background: "var(--accent-ground)", outline: "1px solid var(--accent)" },
  ".json-fault-line": { background: "var(--bad-ground)" },
  ".json-fault": { textDecoration: "underline wavy var(--bad)" },
});

/** Changes that come from the page, not from the reader. */
const fromPage = Annotation.define<true>();

export interface CodeEditorProps extends JsonEditorProps {
  /** Where the reader was in the field that this editor replaces. */
  caret: Caret | undefined;
}

export function CodeEditor(props: CodeEditorProps) {
  const { text, label, isInvalid, fault, faultId, isReadOnly = false } = props;
  const box = useRef<HTMLDivElement>(null);
  const made = useRef<{ view: EditorView; facts: Compartment }>(undefined);
  const latest = useRef(props);
  latest.current = props;
  useLayoutEffect(() => {
    const facts = new Compartment();
    const view = viewOf(box.current as HTMLElement, latest.current, [
      facts.of(factsOf(latest.current)),
      EditorView.updateListener.of(({ docChanged, state, transactions }) => {
        const isTyped = docChanged && !transactions.some((each) => each.annotation(fromPage));
        if (isTyped) latest.current.onText(state.doc.toString());
      }),
    ]);
    made.current = { view, facts };
    return () => view.destroy();
  }, []);
  useLayoutEffect(() => {
    const view = made.current?.view;
    if (!view || view.state.doc.toString() === text) return;
    const changes = { from: 0, to: view.state.doc.length, insert: text };
    view.dispatch({ changes, annotations: fromPage.of(true) });
  }, [text]);
  useLayoutEffect(() => {
    made.current?.view.dispatch({ effects: made.current.facts.reconfigure(factsOf(latest.current)) });
  }, [label, isInvalid, fault?.line, fault?.column, faultId, isReadOnly]);
  return <div ref={box} class="json-editor" />;
}

function viewOf(parent: HTMLElement, { text, caret }: CodeEditorProps, more: Extension): EditorView {
  const view = new EditorView({
    parent,
    doc: text,
    selection: caret && { anchor: caret.from, head: caret.to },
    extensions: [
      lineNumbers(),
      history(),
      keymap.of([...KEYS, ...historyKeymap]),
      EditorView.lineWrapping,
      EditorView.decorations.of(jsonMarks),
      typed,
      LOOK,
      more,
    ],
  });
  if (caret) view.focus();
  return view;
}

/** What the properties say beyond the text. */
function factsOf({ label, isInvalid, fault, faultId, isReadOnly = false }: JsonEditorProps): Extension {
  return [
    EditorView.contentAttributes.of({
      // Editable text is in the tab order anyway; accessibility checkers want it said.
      tabindex: "0",
      "aria-label": label,
      "aria-invalid": String(isInvalid),
      ...(isInvalid && { "aria-describedby": faultId }),
    }),
    EditorView.editorAttributes.of({ class: isInvalid ? "is-invalid" : "" }),
    EditorState.readOnly.of(isReadOnly),
    fault ? EditorView.decorations.of(({ state: { doc } }) => faultMarks(doc, fault)) : [],
  ];
}

const newLine: Command = (view) => {
  const { state } = view;
  if (state.readOnly) return false;
  const { from } = state.selection.main;
  const line = state.doc.lineAt(from);
  const before = line.text.slice(0, from - line.from);
  const indent = (/^\s*/.exec(before)?.[0] ?? "") + (/[{[]\s*$/.test(before) ? "  " : "");
  return replace(view, `\n${indent}`, "input");
};

// Browsers edit only the lines in sight, and write inline styles where they join lines, which the content policy forbids.

const replace = (view: EditorView, text: string, userEvent: string): true => {
  view.dispatch(view.state.replaceSelection(text), { scrollIntoView: true, userEvent });
  return true;
};

/** Deletes the selection or, without one, up to where `move` leads. */
const erase =
  (move: "moveByChar" | "moveByGroup", isForward: boolean): Command =>
  (view) => {
    const { readOnly, selection } = view.state;
    if (readOnly) return false;
    if (selection.main.empty) {
      const { head } = view[move](selection.main, isForward);
      view.dispatch({ selection: { anchor: selection.main.anchor, head } });
    }
    return replace(view, "", "delete");
  };

const typed = EditorView.domEventHandlers({
  beforeinput({ inputType, data }, view) {
    if (inputType !== "insertText" || data === null || view.state.readOnly) return false;
    return (!view.state.selection.main.empty || data.includes("\n")) && replace(view, data, "input.type");
  },
});

const select =
  (rangeOf: (state: EditorState) => readonly [anchor: number, head: number]): Command =>
  (view) => {
    view.dispatch({ selection: EditorSelection.single(...rangeOf(view.state)), scrollIntoView: true });
    return true;
  };

/** Tab is not among them: it moves the focus, as in every field. */
const KEYS: readonly KeyBinding[] = [
  { key: "Enter", run: newLine, shift: newLine },
  { key: "Backspace", run: erase("moveByChar", false), shift: erase("moveByChar", false) },
  { key: "Delete", run: erase("moveByChar", true) },
  { key: "Mod-Backspace", mac: "Alt-Backspace", run: erase("moveByGroup", false) },
  { key: "Mod-Delete", mac: "Alt-Delete", run: erase("moveByGroup", true) },
  { key: "Mod-a", run: select(({ doc }) => [0, doc.length]) },
  {
    key: "Mod-Home",
    run: select(() => [0, 0]),
    shift: select(({ selection }) => [selection.main.anchor, 0]),
  },
  {
    key: "Mod-End",
    run: select(({ doc }) => [doc.length, doc.length]),
    shift: select(({ selection, doc }) => [selection.main.anchor, doc.length]),
  },
];

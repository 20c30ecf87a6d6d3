/** Edits JSON text: in CodeMirror, or in a plain field until it is loaded and if it cannot be loaded. */
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { TextFault } from "../state/json-fault.js";

export interface JsonEditorProps {
  text: string;
  /** Accessible name. */
  label: string;
  onText: (text: string) => void;
  isInvalid: boolean;
  /** Position of a syntax error. */
  fault?: TextFault | undefined;
  /** Id of the element that describes why the text is invalid. */
  faultId: string;
  isReadOnly?: boolean;
}

/** What the plain field had selected, if the focus was there. */
export interface Caret {
  from: number;
  to: number;
}

type Editor = ComponentType<JsonEditorProps & { caret: Caret | undefined }>;

/** Wrapped in an object, so that the component function is stored and not called. */
const loaded = signal<{ CodeEditor: Editor } | undefined>(undefined);
let loading: Promise<void> | undefined;

const LEAST_ROWS = 3;
const MOST_ROWS = 16;

/** On failure the plain field stays, and the next editor tries again. */
function loadEditor(): void {
  loading ??= import("./code-editor.js").then(
    (module) => void (loaded.value = module),
    () => void (loading = undefined),
  );
}

export function JsonEditor(props: JsonEditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(loadEditor, []);
  // The plain field is still in the document when the editor replaces it.
  if (loaded.value) return <loaded.value.CodeEditor {...props} caret={caretOf(field.current)} />;
  const { text, label, onText, isInvalid, faultId, isReadOnly } = props;
  return (
    <textarea
      ref={field}
      class="code"
      aria-label={label}
      spellcheck={false}
      rows={Math.min(MOST_ROWS, Math.max(LEAST_ROWS, text.split("\n").length))}
      readOnly={isReadOnly}
      value={text}
      aria-invalid={isInvalid}
      aria-describedby={isInvalid ? faultId : undefined}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
    />
  );
}

function caretOf(field: HTMLTextAreaElement | null): Caret | undefined {
  if (!field || document.activeElement !== field) return undefined;
  return { from: field.selectionStart, to: field.selectionEnd };
}

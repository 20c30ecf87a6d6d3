/** Saves a run as a case file: preview, write, open in the editor. */
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { StudioCase } from "../../src/models/studio.js";
import type { ApiError } from "../api.js";
import { caseAction, makeCase, openInEditor } from "../state/helper.js";
import { strings } from "../strings.js";
import { Fault, Waiting } from "./common.js";
import { CopyAs } from "./copy-as.js";
import { Dialog } from "./dialog.js";
import { Copy, visible } from "./text.js";

interface RunName {
  threadId: string;
  runId: string;
  /** Path of the only final value to expect. */
  expect?: string;
}

/** The run shown in the dialog. */
const wanted = signal<RunName | undefined>(undefined);

export const openCase = (run: RunName): void => void (wanted.value = run);

export function CaseDialog() {
  const run = wanted.value;
  if (!run) return null;
  return (
    <Dialog title={strings.cases.title} onClose={() => (wanted.value = undefined)} isForm>
      <CaseFile run={run} key={run.runId} />
    </Dialog>
  );
}

/** Responses to outdated requests are ignored. */
function useCase({ threadId, runId, expect }: RunName) {
  const [made, setMade] = useState<StudioCase | undefined>(undefined);
  const [fault, setFault] = useState<ApiError | undefined>(undefined);
  const [isWriting, setWriting] = useState(false);
  const asked = useRef(0);
  const last = useRef<Promise<StudioCase | undefined>>(undefined);
  const ask = async (wish: { file?: string; write?: boolean; replace?: boolean }) => {
    const mine = ++asked.current;
    try {
      const next = await makeCase({ thread_id: threadId, run_id: runId, expect, ...wish });
      if (mine !== asked.current) return undefined;
      setMade(next);
      setFault(undefined);
      return next;
    } catch (error) {
      if (mine === asked.current) setFault(error as ApiError);
      return undefined;
    }
  };
  const preview = (file?: string): void => void (last.current = ask(file === undefined ? {} : { file }));
  const write = async (file: string, replace: boolean): Promise<void> => {
    setWriting(true);
    // Leaving the field for the button asks whether the file exists.
    const known = await last.current;
    if (known?.path !== file || known.taken.length === 0 || replace)
      await ask({ file, write: true, replace });
    setWriting(false);
  };
  return { made, fault, setFault, isWriting, preview, write };
}

function CaseFile({ run }: { run: RunName }) {
  const { made, fault, setFault, isWriting, preview, write } = useCase(run);
  const [file, setFile] = useState<string | undefined>(undefined);
  /** The file that is to be overwritten. */
  const [replaced, setReplaced] = useState<string | undefined>(undefined);
  useEffect(() => preview(), []);
  if (!made) return fault ? <Fault error={fault} retry={() => preview()} /> : <Waiting />;
  const path = file ?? made.path;
  const replace = replaced === path;
  const isTaken = made.taken.length > 0 && !made.written;
  return (
    <form
      class="case-file"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWriting) void write(path, replace);
      }}
    >
      <p class="dim">
        {run.expect === undefined ? strings.cases.note : strings.cases.expects(visible(run.expect))}
      </p>
      <label>
        <span>{strings.cases.file}</span>
        <input
          required
          value={path}
          disabled={made.written}
          aria-describedby="case-path"
          spellcheck={false}
          onInput={({ currentTarget }) => setFile(currentTarget.value)}
          onChange={() => {
            setReplaced(undefined);
            preview(path);
          }}
        />
      </label>
      <p id="case-path" class="dim small-text">
        {strings.cases.path}
      </p>
      <Preview made={made} />
      {made.extends && !made.written && <p>{strings.cases.extends}</p>}
      {fault && <Fault error={fault} />}
      {isTaken && (
        <Taken paths={made.taken} replace={replace} onReplace={(is) => setReplaced(is ? path : undefined)} />
      )}
      {made.written ? (
        <Written made={made} onFault={setFault} />
      ) : (
        <p class="actions">
          <button type="submit" class="main" disabled={isWriting || (isTaken && !replace)}>
            {made.extends ? strings.cases.add : strings.cases.write}
          </button>
          {!isTaken && run.expect === undefined && <CopyAs action={() => caseAction(run.runId, path)} />}
        </p>
      )}
    </form>
  );
}

interface TakenProps {
  paths: readonly string[];
  replace: boolean;
  onReplace: (replace: boolean) => void;
}

const Taken = ({ paths, replace, onReplace }: TakenProps) => (
  <label class="check">
    <input
      type="checkbox"
      checked={replace}
      onChange={({ currentTarget }) => onReplace(currentTarget.checked)}
    />
    <span>
      {strings.cases.taken} {visible(paths.join(", "))}. {strings.cases.replace}
    </span>
  </label>
);

const REDACTED = "[redacted]";

function Preview({ made: { text, mock, notes } }: { made: StudioCase }) {
  const parts = text.split(REDACTED);
  return (
    <>
      <pre class="text code case-text" tabIndex={0} aria-label={strings.cases.text}>
        {parts.map((part, index) => (
          <>
            {index > 0 && <mark>{REDACTED}</mark>}
            {visible(part)}
          </>
        ))}
      </pre>
      {parts.length > 1 && <p class="small-text">{strings.cases.redacted(parts.length - 1)}</p>}
      {mock && <p class="small-text">{strings.cases.recorded(mock.calls, visible(mock.path))}</p>}
      {notes.map((note) => (
        <p key={note} class="small-text">
          {visible(note)}
        </p>
      ))}
    </>
  );
}

function Written({ made, onFault }: { made: StudioCase; onFault: (error: ApiError) => void }) {
  const command = `graph-serve test ${made.path}`;
  return (
    <>
      <p role="status">
        {strings.cases.written} <code>{visible(made.file)}</code>{" "}
        <Copy label={strings.faults.copyPath} text={() => made.file} />
      </p>
      <p class="command">
        {strings.cases.run} <code>{visible(command)}</code> <Copy text={() => command} />
      </p>
      <p class="actions">
        <button
          type="button"
          onClick={() => void openInEditor({ file: made.file, line: 1, column: 1 }).catch(onFault)}
        >
          {strings.cases.open}
        </button>
      </p>
    </>
  );
}

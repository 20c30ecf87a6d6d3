/** Graphs that failed to load, with the location of each error; and the time of the last reload. */
import { useEffect, useState } from "preact/hooks";
import type { LoadFault } from "../../src/models/studio.js";
import type { ApiError } from "../api.js";
import { hello } from "../state/hello.js";
import { openInEditor } from "../state/helper.js";
import { watched } from "../state/node-reruns.js";
import { strings } from "../strings.js";
import { CodeFrame } from "../errors/code-frame.js";
import { Copy, visible } from "./text.js";

/** Ids of problems that were open before: they are folded to one line. */
const seen = new Set<string>();

export function Problems() {
  const told = hello.value;
  if (!told || told.faults.length === 0) return null;
  // Then the error is shown at the step that runs again.
  const isWatching = watched.value !== undefined;
  return (
    <aside class="problems" aria-label={strings.problems.title} aria-live="polite">
      {grouped(told.faults).map((faults) => (
        <Problem
          key={`${keyOf(faults)} ${isWatching}`}
          faults={faults}
          place={told.place}
          isFolded={isWatching || seen.has(keyOf(faults))}
        />
      ))}
    </aside>
  );
}

/** Graphs that fail at the same place, together. */
function grouped(faults: readonly LoadFault[]): LoadFault[][] {
  const groups = new Map<string, LoadFault[]>();
  for (const fault of faults) {
    const key = placeOf(fault);
    groups.set(key, [...(groups.get(key) ?? []), fault]);
  }
  return [...groups.values()];
}

const placeOf = ({ graph_id, message, location }: LoadFault): string =>
  location ? `${location.file}:${location.line}:${location.column}` : `${graph_id} ${message}`;

const keyOf = (faults: readonly LoadFault[]): string => faults.map(placeOf)[0] ?? "";

interface ProblemProps {
  faults: readonly LoadFault[];
  place: string;
  /** Whether it is folded at first. */
  isFolded?: boolean;
}

/** Graphs that fail at one place. */
export function Problem({ faults, place, isFolded = false }: ProblemProps) {
  const [refusal, setRefusal] = useState<ApiError | undefined>(undefined);
  const key = keyOf(faults);
  const [isOpen, setOpen] = useState(!isFolded);
  const [fault] = faults;
  if (!fault) return null;
  const { message, hint, location } = fault;
  const ids = faults.map(({ graph_id }) => graph_id).filter((id) => id !== "");
  const toggled = (isNowOpen: boolean) => {
    setOpen(isNowOpen);
    if (!isNowOpen) seen.add(key);
  };
  return (
    <details class="problem" open={isOpen} onToggle={({ currentTarget }) => toggled(currentTarget.open)}>
      <summary>
        <strong class="bad">
          {ids.length > 0 ? strings.problems.graph(visible(ids.join(", "))) : strings.problems.settings}
        </strong>{" "}
        {faults.some(({ served }) => served) && <span>{strings.problems.served}</span>}{" "}
        {!isOpen && <span class="dim">{visible(lineOf(fault, place))}</span>}
      </summary>
      <pre class="text">{visible(message)}</pre>
      {location && (
        <>
          {location.frame !== "" && <CodeFrame frame={location.frame} />}
          <p>
            <button type="button" class="small" onClick={() => void openInEditor(location).catch(setRefusal)}>
              {strings.problems.open(`${visible(shortFile(location.file, place))}:${location.line}`)}
            </button>{" "}
            <Copy label={strings.faults.copyPath} text={() => `${location.file}:${location.line}`} />
          </p>
        </>
      )}
      {hint !== null && <p class="dim">{visible(hint)}</p>}
      {refusal && (
        <p class="bad" role="alert">
          {visible(refusal.message)}
        </p>
      )}
    </details>
  );
}

/** One line about an error. What graphs that import the file have in common is the error there. */
function lineOf({ message, location }: LoadFault, place: string): string {
  const [first = "", second = ""] = message.split("\n").filter((line) => line.trim() !== "");
  return location && second !== ""
    ? `${shortFile(location.file, place)}:${location.line} ${second.trim()}`
    : first;
}

/** Path inside the project. */
export const shortFile = (file: string, place: string): string =>
  place !== "" && file.startsWith(`${place}/`) ? file.slice(place.length + 1) : file;

/** The graph's load error, if it has never loaded. */
export const brokenGraph = (id: string): LoadFault | undefined =>
  hello.value?.faults.find(({ graph_id, served }) => graph_id === id && !served);

/** How long a reload is reported. */
const RELOADED_MS = 15_000;

/** Time of a reload, for a while: shows that the saved code is served. */
export function Reloaded() {
  const at = hello.value?.reloaded_at;
  const [seen, setSeen] = useState<typeof at>(undefined);
  useEffect(() => {
    const timer = setTimeout(() => setSeen(at), RELOADED_MS);
    return () => clearTimeout(timer);
  }, [at]);
  if (at == null || at === seen) return null;
  return (
    <span class="dim small-text reloaded" role="status">
      {strings.problems.reloaded(new Date(at).toLocaleTimeString())}
    </span>
  );
}

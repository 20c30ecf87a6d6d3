/** Graphs that failed to load, with the location of each error; and the time of the last reload. */
import { useState } from "preact/hooks";
import type { LoadFault } from "../../src/models/studio.js";
import type { ApiError } from "../api.js";
import { hello } from "../state/hello.js";
import { openInEditor } from "../state/helper.js";
import { strings } from "../strings.js";
import { visible } from "./text.js";

export function Problems() {
  const told = hello.value;
  if (!told || told.faults.length === 0) return null;
  return (
    <aside class="problems" aria-label={strings.problems.title} aria-live="polite">
      {told.faults.map((fault) => (
        <Problem key={fault.graph_id} fault={fault} place={told.place} />
      ))}
    </aside>
  );
}

function Problem({ fault, place }: { fault: LoadFault; place: string }) {
  const { graph_id, message, hint, location, served } = fault;
  const [refusal, setRefusal] = useState<ApiError | undefined>(undefined);
  const isOne = graph_id !== "";
  return (
    <details class="problem" open>
      <summary>
        <strong class="bad">
          {isOne ? strings.problems.graph(visible(graph_id)) : strings.problems.settings}
        </strong>{" "}
        {served && <span>{strings.problems.served}</span>}
      </summary>
      <pre class="text">{visible(message)}</pre>
      {location && (
        <>
          {location.frame !== "" && (
            <pre class="text code" tabIndex={0}>
              {visible(location.frame)}
            </pre>
          )}
          <p>
            <button type="button" class="small" onClick={() => void openInEditor(location).catch(setRefusal)}>
              {strings.problems.open(`${visible(shortened(location.file, place))}:${location.line}`)}
            </button>
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

const shortened = (file: string, place: string): string =>
  file.startsWith(`${place}/`) ? file.slice(place.length + 1) : file;

/** Time of the last reload: shows that the saved code is served. */
export function Reloaded() {
  const at = hello.value?.reloaded_at;
  if (at == null) return null;
  return (
    <span class="dim small-text reloaded" role="status">
      {strings.problems.reloaded(new Date(at).toLocaleTimeString())}
    </span>
  );
}

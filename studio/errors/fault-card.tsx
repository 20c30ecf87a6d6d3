/** Why a run failed: node, message, line of code, causes; and what to do next. */
import { useEffect, useState } from "preact/hooks";
import type { StudioFault } from "../../src/models/studio.js";
import { isReadOnly, type ApiError } from "../api.js";
import { shortFile } from "../components/problems.js";
import { Copy, Value, visible } from "../components/text.js";
import { hello } from "../state/hello.js";
import { openInEditor } from "../state/helper.js";
import { faultNode, faultOfRun } from "../state/run-fault.js";
import { failureText } from "../state/schema-issues.js";
import { strings } from "../strings.js";
import { Attempts, RunAgain } from "./attempts.js";
import { CodeFrame } from "./code-frame.js";

interface FaultCardProps {
  threadId: string;
  graph: string;
  /** What every client sees of the error. */
  error: string;
  /** The run that failed; the last one of the thread if undefined. */
  runId?: string | undefined;
  /** The checkpoint before the failed step. */
  checkpointId: string | undefined;
}

export function FaultCard({ threadId, graph, error, runId, checkpointId }: FaultCardProps) {
  const again = checkpointId === undefined ? undefined : { superstep: { threadId, checkpointId }, graph };
  const fault = useFault(threadId, runId, error);
  const node = fault && faultNode(fault);
  const name = fault?.name && !error.startsWith(fault.name) ? `${fault.name}: ` : "";
  return (
    <div class="fault-card" role="alert">
      <header>
        <p class="fault-title">
          <FailedMark />
          {node === undefined
            ? strings.faults.run
            : strings.faults.node(visible(node.replaceAll(":", " › ")))}
        </p>
        <Value value={name + failureText(error)} class="fault-message" />
      </header>
      {fault && <Place fault={fault} />}
      <footer class="fault-actions">
        {again && <RunAgain {...again} />}
        {fault?.location?.line !== undefined && <OpenButton location={fault.location} />}
      </footer>
      {fault && <Details fault={fault} />}
      {again && <Attempts {...again} error={error} />}
    </div>
  );
}

/** Undefined if this page may not read it, or until it is read. */
function useFault(threadId: string, runId: string | undefined, error: string): StudioFault | undefined {
  const [fault, setFault] = useState<StudioFault | undefined>(undefined);
  const mayRead = hello.value !== undefined;
  useEffect(() => {
    setFault(undefined);
    if (!mayRead) return;
    let isGone = false;
    void faultOfRun(threadId, runId)
      .catch(() => undefined)
      .then((found) => !isGone && setFault(found));
    return () => (isGone = true);
  }, [threadId, runId, error, mayRead]);
  return fault;
}

const FailedMark = () => (
  <svg class="failed-mark" viewBox="0 0 16 16" aria-hidden="true">
    <circle cx="8" cy="8" r="7" />
    <path d="M5.5 5.5l5 5M10.5 5.5l-5 5" />
  </svg>
);

type Location = NonNullable<StudioFault["location"]>;

const placeText = ({ file, line, column }: Location): string =>
  [shortFile(file, hello.value?.place ?? ""), line, column].filter((part) => part !== undefined).join(":");

function Place({ fault: { location } }: { fault: StudioFault }) {
  if (!location) return null;
  return (
    <div class="fault-place">
      <p class="fault-file">
        <code>{visible(placeText(location))}</code>
        <Copy label={strings.faults.copyPath} text={() => `${location.file}:${location.line ?? 1}`} />
      </p>
      {location.frame !== undefined && location.frame !== "" ? (
        <CodeFrame frame={location.frame} />
      ) : (
        <p class="dim fault-note">{strings.faults.changed}</p>
      )}
    </div>
  );
}

/** Only `dev` can start an editor. If that fails, the path can still be copied. */
function OpenButton({ location }: { location: Location }) {
  const [refusal, setRefusal] = useState<ApiError | undefined>(undefined);
  if (isReadOnly) return null;
  const open = () => {
    setRefusal(undefined);
    const { file, line = 1, column = 1 } = location;
    void openInEditor({ file, line, column }).catch(setRefusal);
  };
  return (
    <>
      <button type="button" data-open-editor onClick={open}>
        {strings.faults.open}
      </button>
      {refusal && (
        <p class="bad" role="alert">
          {visible(refusal.message)}
        </p>
      )}
    </>
  );
}

function Details({ fault }: { fault: StudioFault }) {
  const { stack, folded, cause, errors = [] } = fault;
  const causes = causesOf(cause);
  return (
    <>
      {causes.map((each, index) => (
        <details key={index} class="fault-more" open={index === 0}>
          <summary>
            {strings.faults.cause} <span class="bad">{visible(`${each.name}: ${each.message}`)}</span>
          </summary>
          <Place fault={each} />
        </details>
      ))}
      {errors.length > 1 &&
        errors.map((each, index) => (
          <details key={index} class="fault-more">
            <summary>
              {visible(faultNode(each) ?? strings.faults.also)}{" "}
              <span class="bad">{visible(`${each.name}: ${each.message}`)}</span>
            </summary>
            <Place fault={each} />
          </details>
        ))}
      {stack.length > 0 && (
        <details class="fault-more">
          <summary>
            {strings.faults.stack} <span class="dim">{strings.faults.frames(stack.length, folded)}</span>
          </summary>
          <ol class="fault-stack">
            {stack.map(({ function: name, ...frame }, index) => (
              <li key={index}>
                <code>
                  {name !== undefined && <strong>{visible(name)} </strong>}
                  {visible(placeText(frame))}
                </code>
              </li>
            ))}
          </ol>
        </details>
      )}
    </>
  );
}

const MOST_CAUSES = 5;

function causesOf(cause: StudioFault | undefined): StudioFault[] {
  const causes: StudioFault[] = [];
  for (let each = cause; each && causes.length < MOST_CAUSES; each = each.cause) causes.push(each);
  return causes;
}

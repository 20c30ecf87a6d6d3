/** Log of the latest frames of a run; the selected one is shown in full. */
import { useState } from "preact/hooks";
import type { Frame } from "../state/frame.js";
import { strings } from "../strings.js";
import { movedBy, rowId, Rows } from "./rows.js";
import { jsonText, LongText, visible } from "./text.js";

const ROW = 26;
const SHOWN = 200;
const ID = "frames";

export function Frames({ frames }: { frames: readonly Frame[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="block" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {strings.runs.frames} <span class="dim">{frames.length}</span>
      </summary>
      {isOpen && <List frames={frames} />}
    </details>
  );
}

function List({ frames }: { frames: readonly Frame[] }) {
  const [chosen, setChosen] = useState<number | undefined>(undefined);
  const index = frames.findIndex(({ id }) => id === chosen);
  const frame = frames[index];
  const onKey = (event: KeyboardEvent) => {
    const to = movedBy(event.key, index, frames.length);
    if (to === undefined) return;
    event.preventDefault();
    setChosen(frames[to]?.id);
  };
  return (
    <div class="frames">
      <Rows
        id={ID}
        role="listbox"
        label={strings.runs.frames}
        count={frames.length}
        height={ROW}
        active={index}
        onKey={onKey}
        row={(at) => {
          const { id, event, data } = frames[at] as Frame;
          return (
            <div
              key={id}
              id={rowId(ID, at)}
              class="row frame"
              role="option"
              aria-selected={id === chosen}
              onClick={() => setChosen(id)}
            >
              <span class="number">{id}</span>
              <span>{visible(event.replaceAll(/:[\w-]{36}/g, ""))}</span>
              <span class="dim one-line">{visible(JSON.stringify(data).slice(0, SHOWN))}</span>
            </div>
          );
        }}
      />
      {frame && <LongText class="code" text={jsonText(frame.data)} most={5000} />}
    </div>
  );
}

/** Bar at the bottom of every screen that undoes pending deletions. */
import { goOn, hold, refusedRemoval, removals, undo } from "../state/undo.js";
import { strings } from "../strings.js";
import { Fault } from "./common.js";
import { CopyAs } from "./copy-as.js";
import { visible } from "./text.js";

export function UndoBar() {
  const refused = refusedRemoval.value;
  return (
    <div class="undo" onPointerEnter={hold} onPointerLeave={goOn} onFocusIn={hold} onFocusOut={goOn}>
      {refused && (
        <div class="undo-fault">
          <Fault error={refused} />
          <button type="button" class="small" onClick={() => (refusedRemoval.value = undefined)}>
            {strings.close}
          </button>
        </div>
      )}
      <div role="status" aria-label={strings.undo.title}>
        {removals.value.map(({ id, text, action, isSent }) => (
          <p key={id}>
            <span class="one-line">{visible(text)}</span>
            {!isSent && (
              <button type="button" onClick={() => undo(id)}>
                {strings.undo.button}
              </button>
            )}
            <CopyAs action={() => action} />
          </p>
        ))}
      </div>
    </div>
  );
}

/** Bar at the bottom of every screen that undoes pending deletions. */
import { keepFocus } from "../focus.js";
import { goOn, hold, refusedRemoval, removals, undo } from "../state/undo.js";
import { strings } from "../strings.js";
import { Fault } from "./common.js";
import { CopyAs } from "./copy-as.js";
import { visible } from "./text.js";

/** The button that was pressed goes. */
const pressed = (act: () => void): void => {
  act();
  keepFocus();
};

export function UndoBar() {
  const refused = refusedRemoval.value;
  return (
    <div class="undo" onPointerEnter={hold} onPointerLeave={goOn} onFocusIn={hold} onFocusOut={goOn}>
      {refused && (
        <div class="undo-fault">
          <Fault error={refused} />
          <button
            type="button"
            class="small"
            onClick={() => pressed(() => (refusedRemoval.value = undefined))}
          >
            {strings.close}
          </button>
        </div>
      )}
      <div role="status" aria-label={strings.undo.title}>
        {removals.value.map(({ id, text, action, isSent }) => (
          <p key={id}>
            <span class="one-line">{visible(text)}</span>
            {!isSent && (
              <button type="button" onClick={() => pressed(() => undo(id))}>
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

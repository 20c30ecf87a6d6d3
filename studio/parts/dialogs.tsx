/** The dialogs that can come up on any screen: for a key, and the sheet of keys. */
import { useRef } from "preact/hooks";
import { closeKeyDialog, keyAsked, storedKey, useKey } from "../api.js";
import { isHelpShown } from "../keys.js";
import { words } from "../words.js";
import { Dialog } from "./dialog.js";

export function KeyDialog() {
  const field = useRef<HTMLInputElement>(null);
  if (keyAsked.value === "no") return null;
  const isWrong = keyAsked.value === "wrong";
  return (
    <Dialog title={keyAsked.value === "wished" ? words.key.label : words.key.title} onClose={closeKeyDialog}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          const key = field.current?.value.trim();
          if (key) useKey(key);
        }}
      >
        {isWrong && (
          <p class="bad" role="alert">
            {words.key.wrong}
          </p>
        )}
        <label>
          <span>{words.key.label}</span>
          <input ref={field} type="password" autocomplete="off" required />
        </label>
        <p class="dim">{words.key.note}</p>
        <p class="dim">{words.key.terminal}</p>
        <p class="actions">
          <button type="submit" class="main">
            {words.key.use}
          </button>
          {storedKey() !== null && (
            <button type="button" onClick={() => useKey(null)}>
              {words.key.forget}
            </button>
          )}
        </p>
      </form>
    </Dialog>
  );
}

export function HelpDialog() {
  if (!isHelpShown.value) return null;
  return (
    <Dialog title={words.help.title} onClose={() => (isHelpShown.value = false)}>
      <dl class="keys">
        {words.help.keys.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

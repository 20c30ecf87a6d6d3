/** Dialogs available on every screen: API key and shortcuts. */
import { useRef } from "preact/hooks";
import { closeKeyDialog, keyAsked, storedKey, useKey } from "../api.js";
import { isHelpShown } from "../keys.js";
import { allowSingleKeys, hasSingleKeys } from "../state/layout.js";
import { strings } from "../strings.js";
import { Dialog } from "./dialog.js";

export function KeyDialog() {
  const field = useRef<HTMLInputElement>(null);
  if (keyAsked.value === "no") return null;
  const isWrong = keyAsked.value === "wrong";
  return (
    <Dialog
      title={keyAsked.value === "wished" ? strings.key.label : strings.key.title}
      onClose={closeKeyDialog}
      isForm
    >
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
            {strings.key.wrong}
          </p>
        )}
        <label>
          <span>{strings.key.label}</span>
          <input ref={field} type="password" autocomplete="off" autofocus required />
        </label>
        <p class="dim">{strings.key.note}</p>
        <p class="dim">{strings.key.terminal}</p>
        <p class="actions">
          <button type="submit" class="main">
            {strings.key.use}
          </button>
          {storedKey() !== null && (
            <button type="button" onClick={() => useKey(null)}>
              {strings.key.forget}
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
    <Dialog title={strings.help.title} onClose={() => (isHelpShown.value = false)}>
      <dl class="keys">
        {strings.help.keys.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label class="single-keys">
        <input
          type="checkbox"
          checked={hasSingleKeys.value}
          onChange={({ currentTarget }) => allowSingleKeys(currentTarget.checked)}
        />
        {strings.help.single}
      </label>
    </Dialog>
  );
}

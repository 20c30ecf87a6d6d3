/** Thread tools that need the token from the terminal: show hidden values, save as one file. */
import { useState } from "preact/hooks";
import type { ApiError } from "../api.js";
import { unlessBusy } from "../focus.js";
import { safeName } from "../state/files.js";
import { hello } from "../state/hello.js";
import { pageAction, threadPage } from "../state/helper.js";
import { show, shown } from "../state/shown.js";
import { threadId } from "../state/thread.js";
import { strings } from "../strings.js";
import { CopyAs } from "./copy-as.js";
import { saveAs } from "./file.js";
import { visible } from "./text.js";

/** Shown only with the helper token. */
export function ShownSwitch() {
  const now = shown.value;
  if (now === undefined) return null;
  return (
    <span class="choices" role="group" aria-label={strings.shown.title}>
      {(["clients", "all"] as const).map((each) => (
        <button key={each} type="button" class="small" aria-pressed={each === now} onClick={() => show(each)}>
          {strings.shown[each]}
        </button>
      ))}
    </span>
  );
}

export function SavePage({ graph }: { graph: string }) {
  const [state, setState] = useState<"idle" | "busy" | ApiError>("idle");
  const [keepsSecrets, setKeeping] = useState(false);
  if (hello.value === undefined) return null;
  const name = ["thread", graph, threadId.value.slice(0, 8)].filter(Boolean).join("-");
  const file = safeName(`${name}.html`);
  const save = async () => {
    setState("busy");
    try {
      saveAs(await threadPage(threadId.value, keepsSecrets), file);
      setState("idle");
    } catch (error) {
      setState(error as ApiError);
    }
  };
  return (
    <>
      <button type="button" class="small" {...unlessBusy(state === "busy", () => void save())}>
        {strings.page.save}
      </button>
      <label class="check small-text dim" title={strings.page.secretsHint}>
        <input
          type="checkbox"
          checked={!keepsSecrets}
          onChange={({ currentTarget }) => setKeeping(!currentTarget.checked)}
        />
        {strings.page.secrets}
      </label>
      <CopyAs of={strings.copyAs.page} action={() => pageAction(threadId.value, keepsSecrets, file)} />
      {typeof state === "object" && (
        <span class="bad" role="alert">
          {visible(state.message)}
        </span>
      )}
    </>
  );
}

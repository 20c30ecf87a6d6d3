/** Copies an action in the words of curl, the SDK and the command line. */
import { type Action, asCommand, asCurl, asSdk } from "../state/copy-as.js";
import { words } from "../words.js";
import { Copy } from "./text.js";

export function CopyAs({ action }: { action: () => Action }) {
  const { cli, files } = action();
  return (
    <span class="copy-as" role="group" aria-label={words.copyAs.title}>
      <span class="dim small-text" aria-hidden="true">
        {words.copyAs.title}
      </span>
      <Copy label={words.copyAs.curl} text={() => asCurl(action())} />
      <Copy label={words.copyAs.sdk} text={() => asSdk(action())} />
      {cli && <Copy label={words.copyAs.cli} text={() => asCommand(action())} />}
      {files && <span class="dim small-text">{words.files.copied([...files.values()].join(", "))}</span>}
    </span>
  );
}

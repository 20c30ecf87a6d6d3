/** Copies an action in the words of curl, the SDK and the command line. */
import { type Action, asCommand, asCurl, asSdk } from "../state/copy-as.js";
import { words } from "../words.js";
import { Copy } from "./text.js";

interface CopyAsProps {
  action: () => Action;
  /** What is copied, where several buttons stand together. */
  of?: string;
}

export function CopyAs({ action, of }: CopyAsProps) {
  const { cli, files } = action();
  const title = of === undefined ? words.copyAs.title : words.copyAs.of(of);
  return (
    <span class={of === undefined ? "copy-as" : "copy-as is-named"} role="group" aria-label={title}>
      <span class="dim small-text" aria-hidden="true">
        {title}
      </span>
      <Copy label={words.copyAs.curl} text={() => asCurl(action())} />
      <Copy label={words.copyAs.sdk} text={() => asSdk(action())} />
      {cli && <Copy label={words.copyAs.cli} text={() => asCommand(action())} />}
      {files && <span class="dim small-text">{words.files.copied([...files.values()].join(", "))}</span>}
    </span>
  );
}

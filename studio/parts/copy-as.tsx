/** Copies an action in the words of curl, the SDK and the command line; of one that no route has, the command alone. */
import { type Action, asCommand, asCurl, asSdk } from "../state/copy-as.js";
import { words } from "../words.js";
import { Copy } from "./text.js";

interface CopyAsProps {
  action: () => Action;
  /** What is copied, where several buttons stand together. */
  of?: string;
}

export function CopyAs({ action, of }: CopyAsProps) {
  const given = action();
  const request = "sdk" in given ? given : undefined;
  const title = of === undefined ? words.copyAs.title : words.copyAs.of(of);
  return (
    <span class={of === undefined ? "copy-as" : "copy-as is-named"} role="group" aria-label={title}>
      <span class="dim small-text" aria-hidden="true">
        {title}
      </span>
      {request && <Copy label={words.copyAs.curl} text={() => asCurl(request)} />}
      {request && <Copy label={words.copyAs.sdk} text={() => asSdk(request)} />}
      {given.cli && <Copy label={words.copyAs.cli} text={() => asCommand(given)} />}
      {request?.files && (
        <span class="dim small-text">{words.files.copied([...request.files.values()].join(", "))}</span>
      )}
    </span>
  );
}

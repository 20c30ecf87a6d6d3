/** Copies an action in the words of curl, the SDK and the command line; of one that no route has, the command alone. */
import { type Action, asCommand, asCurl, asSdk } from "../state/copy-as.js";
import { strings } from "../strings.js";
import { Copy } from "./text.js";

interface CopyAsProps {
  action: () => Action;
  /** What is copied, where several buttons stand together. */
  of?: string;
}

export function CopyAs({ action, of }: CopyAsProps) {
  const given = action();
  const request = "sdk" in given ? given : undefined;
  const title = of === undefined ? strings.copyAs.title : strings.copyAs.of(of);
  return (
    <span class={of === undefined ? "copy-as" : "copy-as is-named"} role="group" aria-label={title}>
      <span class="dim small-text" aria-hidden="true">
        {title}
      </span>
      {request && <Copy label={strings.copyAs.curl} text={() => asCurl(request)} />}
      {request && <Copy label={strings.copyAs.sdk} text={() => asSdk(request)} />}
      {given.cli && <Copy label={strings.copyAs.cli} text={() => asCommand(given)} />}
      {request?.files && (
        <span class="dim small-text">{strings.files.copied([...request.files.values()].join(", "))}</span>
      )}
    </span>
  );
}

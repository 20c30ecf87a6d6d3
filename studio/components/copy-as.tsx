/** Copies an action as curl, SDK call or command. Actions without an API route have only a command. */
import { type Action, asCommand, asCurl, asSdk } from "../state/copy-as.js";
import { strings } from "../strings.js";
import { Copy } from "./text.js";

interface CopyAsProps {
  action: () => Action;
  /** Name of the action, if several groups are adjacent. */
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

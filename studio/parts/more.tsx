/** Secondary facts and actions: in place or, on phones, in a menu. */
import type { ComponentChildren, TargetedFocusEvent, TargetedKeyboardEvent } from "preact";
import { isNarrow } from "../state/layout.js";
import { strings } from "../strings.js";

export function More({ children }: { children: ComponentChildren }) {
  if (!isNarrow.value) return <>{children}</>;
  const onKey = (event: TargetedKeyboardEvent<HTMLDetailsElement>) => {
    if (event.key !== "Escape" || !event.currentTarget.open) return;
    event.stopPropagation();
    event.currentTarget.open = false;
    event.currentTarget.querySelector("summary")?.focus();
  };
  // A press on a label moves the focus to nothing first.
  const onLeave = ({ currentTarget, relatedTarget }: TargetedFocusEvent<HTMLDetailsElement>) => {
    if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) currentTarget.open = false;
  };
  return (
    <details class="more" onKeyDown={onKey} onFocusOut={onLeave}>
      <summary aria-label={strings.layout.more} title={strings.layout.more}>
        ⋯
      </summary>
      <div class="more-list">{children}</div>
    </details>
  );
}

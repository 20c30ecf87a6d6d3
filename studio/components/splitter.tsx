/** The border between two panes: drag it, use the arrow keys, Home and End, or double-click to reset. */
import type { TargetedPointerEvent } from "preact";
import { type Pane, reset, resize } from "../state/layout.js";

const STEP = 16;

interface SplitterProps {
  pane: Pane;
  /** Side of the splitter on which the pane is. */
  side: "left" | "right";
  label: string;
}

export function Splitter({ pane, side, label }: SplitterProps) {
  const sign = side === "left" ? 1 : -1;
  const start = (event: TargetedPointerEvent<HTMLElement>) => {
    const { currentTarget: grip, pointerId, clientX } = event;
    const from = pane.width.value;
    const move = (to: PointerEvent) => resize(pane, from + sign * (to.clientX - clientX));
    event.preventDefault();
    grip.setPointerCapture(pointerId);
    grip.addEventListener("pointermove", move);
    grip.addEventListener("lostpointercapture", () => grip.removeEventListener("pointermove", move), {
      once: true,
    });
  };
  const press = (event: KeyboardEvent) => {
    const { value: width } = pane.width;
    const to = {
      ArrowLeft: width - sign * STEP,
      ArrowRight: width + sign * STEP,
      Home: pane.min,
      End: pane.max,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    resize(pane, to);
  };
  return (
    <div
      class="splitter"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={pane.width.value}
      aria-valuemin={pane.min}
      aria-valuemax={pane.max}
      onPointerDown={start}
      onDblClick={() => reset(pane)}
      onKeyDown={press}
    />
  );
}

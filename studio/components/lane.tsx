/** Branch lanes next to a step. Decorative: hidden from assistive technology. */
import type { PlacedNode } from "../../src/view/lanes.js";

interface LaneProps {
  placed: PlacedNode;
  lanes: number;
  /** Row height in pixels. */
  height: number;
  /** Lines that lead to the selected step. */
  path: ReadonlySet<string>;
  isOnPath: boolean;
  /** True for inputs and edits, which no node wrote. */
  isHollow: boolean;
}

const GAP = 14;
const DOT = 4;

export function Lane({ placed, lanes, height, path, isOnPath, isHollow }: LaneProps) {
  const { lane, above, meeting, below } = placed;
  const x = (index: number) => Math.min(index, lanes - 1) * GAP + GAP / 2;
  const [own, middle] = [x(lane), height / 2];
  const line = (from: string | undefined, d: string) =>
    from !== undefined && <path key={d} d={d} class={`lane ${path.has(from) ? "is-path" : ""}`} />;
  return (
    <svg class="lanes" width={lanes * GAP} height={height} aria-hidden="true">
      {above.map((from, index) =>
        meeting.includes(index)
          ? line(from, curve(x(index), 0, own, middle))
          : line(from, `M${x(index)},0 V${height}`),
      )}
      {line(below[lane], `M${own},${middle} V${height}`)}
      <circle
        cx={own}
        cy={middle}
        r={DOT}
        class={`dot ${isOnPath ? "is-path" : ""} ${isHollow ? "is-hollow" : ""}`}
      />
    </svg>
  );
}

const curve = (x: number, y: number, toX: number, toY: number): string =>
  x === toX ? `M${x},${y} V${toY}` : `M${x},${y} C${x},${toY} ${x},${toY} ${toX},${toY}`;

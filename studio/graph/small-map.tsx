/** Overview of a big graph, with the visible part outlined. A click moves there. */
import type { Signal } from "@preact/signals";
import type { RefObject } from "preact";
import { strings } from "../strings.js";
import type { View } from "./camera.js";
import type { Box } from "./geometry.js";
import type { GraphLayout } from "./layout.js";
import { markOf, type Progress } from "./marks.js";

const WIDTH = 136;
const HEIGHT = 96;

interface SmallMapProps {
  layout: GraphLayout;
  progress: Partial<Progress> | undefined;
  view: Signal<View>;
  /** The element that shows the graph. */
  pane: RefObject<SVGSVGElement | null>;
  /** Shown even if the whole graph is visible. */
  isForced: boolean;
  onMove: (box: Box) => void;
}

export function SmallMap({ layout, progress, view: { value: view }, pane, isForced, onMove }: SmallMapProps) {
  const { width, height } = layout;
  const [right, bottom] = [pane.current?.clientWidth ?? 0, pane.current?.clientHeight ?? 0];
  const seen = { x: -view.x / view.k, y: -view.y / view.k, width: right / view.k, height: bottom / view.k };
  const isCut =
    seen.x > 1 || seen.y > 1 || seen.x + seen.width < width - 1 || seen.y + seen.height < height - 1;
  if (right === 0 || !(isForced || isCut)) return null;
  const scale = Math.min(WIDTH / width, HEIGHT / height);
  const move = (event: MouseEvent) => {
    const { left, top } = (event.currentTarget as SVGSVGElement).getBoundingClientRect();
    onMove({ x: (event.clientX - left) / scale, y: (event.clientY - top) / scale, width: 0, height: 0 });
  };
  return (
    <svg
      class="small-map"
      width={width * scale}
      height={height * scale}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={strings.graphView.map}
      onClick={move}
    >
      {layout.boxes.map((box) => (
        <rect key={box.id} {...rectOf(box)} class="map-box" />
      ))}
      {layout.nodes.map((node) => (
        <rect key={node.id} {...rectOf(node)} class={`map-node is-${markOf(node.id, progress) ?? "plain"}`} />
      ))}
      <rect {...rectOf(within(seen, width, height))} class="map-view" stroke-width={2 / scale} />
    </svg>
  );
}

const rectOf = ({ x, y, width, height }: Box) => ({ x, y, width, height });

function within({ x, y, width, height }: Box, right: number, bottom: number): Box {
  const [left, top] = [Math.max(0, x), Math.max(0, y)];
  return {
    x: left,
    y: top,
    width: Math.max(0, Math.min(right, x + width) - left),
    height: Math.max(0, Math.min(bottom, y + height) - top),
  };
}

/** Zooms and pans a drawing with wheel, pinch, drag and double-click, and moves to a part of it. */
import { select } from "d3-selection";
import "d3-transition";
import { zoom, zoomIdentity, type ZoomTransform } from "d3-zoom";
import type { Box } from "./geometry.js";

export interface View {
  x: number;
  y: number;
  /** Scale; 1 is the size of the layout. */
  k: number;
}

export interface Camera {
  /** Shows all of it. */
  fit(size: Size, isSmooth?: boolean): void;
  /** Moves a box to the middle, at least at this scale. */
  center(box: Box, scale: number, isSmooth?: boolean): void;
  /** Moves only if the box is not completely visible. */
  reveal(box: Box): void;
  zoomBy(factor: number): void;
  panBy(x: number, y: number): void;
  close(): void;
}

interface Size {
  width: number;
  height: number;
}

const LEAST = 0.08;
const MOST = 2.5;
/** Small graphs are not enlarged further than this. */
const MOST_FIT = 1.15;
const MOVE_MS = 160;
const EDGE = 24;

/** @param onView called with every change; `isByHand` is true if the user made it */
export function openCamera(svg: SVGSVGElement, onView: (view: View, isByHand: boolean) => void): Camera {
  let view: View = { x: 0, y: 0, k: 1 };
  const pane = () => svg.getBoundingClientRect();
  const behavior = zoom<SVGSVGElement, unknown>()
    .scaleExtent([LEAST, MOST])
    // The default reads the width of the element, which fails after it has left the page.
    .extent(() => {
      const { width, height } = pane();
      return [
        [0, 0],
        [width, height],
      ];
    })
    .on("zoom", ({ transform, sourceEvent }: { transform: ZoomTransform; sourceEvent: unknown }) => {
      view = { x: transform.x, y: transform.y, k: transform.k };
      onView(view, sourceEvent != null);
    });
  const root = select(svg);
  root.call(behavior);
  const show = ({ x, y, k }: View, isSmooth: boolean) => {
    const target = zoomIdentity.translate(x, y).scale(k);
    const isStill = !isSmooth || matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (isStill) behavior.transform(root.interrupt(), target);
    else behavior.transform(root.transition().duration(MOVE_MS), target);
  };
  const center = ({ x, y, width, height }: Box, k: number, isSmooth: boolean) => {
    const { width: right, height: bottom } = pane();
    show({ k, x: right / 2 - (x + width / 2) * k, y: bottom / 2 - (y + height / 2) * k }, isSmooth);
  };
  return {
    fit({ width, height }, isSmooth = false) {
      const { width: right, height: bottom } = pane();
      if (right === 0 || width === 0) return;
      const k = Math.max(LEAST, Math.min(MOST_FIT, right / width, bottom / height));
      show({ k, x: (right - width * k) / 2, y: (bottom - height * k) / 2 }, isSmooth);
    },
    center: (box, scale, isSmooth = true) => center(box, Math.max(view.k, scale), isSmooth),
    reveal(box) {
      const { width: right, height: bottom } = pane();
      const [left, top] = [box.x * view.k + view.x, box.y * view.k + view.y];
      const isVisible =
        left >= EDGE &&
        top >= EDGE &&
        left + box.width * view.k <= right - EDGE &&
        top + box.height * view.k <= bottom - EDGE;
      if (!isVisible) center(box, Math.max(view.k, 0.7), true);
    },
    zoomBy: (factor) => behavior.scaleBy(root.interrupt(), factor),
    panBy: (x, y) => behavior.translateBy(root.interrupt(), x / view.k, y / view.k),
    close() {
      root.interrupt();
      root.on(".zoom", null);
    },
  };
}

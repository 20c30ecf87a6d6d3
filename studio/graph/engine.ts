/** Layout and camera: loaded when the first graph is shown. */
import type { Diagram } from "../../src/view/diagram.js";
import { type GraphLayout, layoutSlices } from "./layout.js";

export { openCamera } from "./camera.js";

/** Time after which a layout pauses, so that the page can respond. */
const SLICE_MS = 12;

/** Lays out in slices; undefined if `isStale` becomes true in between. */
export async function layoutInSlices(
  diagram: Diagram,
  folded: ReadonlySet<string>,
  isStale: () => boolean,
): Promise<GraphLayout | undefined> {
  const slices = layoutSlices(diagram, folded);
  let start = performance.now();
  for (;;) {
    const { done, value } = slices.next();
    if (done) return value;
    if (performance.now() - start < SLICE_MS) continue;
    await new Promise((resolve) => setTimeout(resolve));
    if (isStale()) return undefined;
    start = performance.now();
  }
}

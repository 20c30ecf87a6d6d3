/** The layout of a diagram, kept while the diagram exists. */
import { useEffect, useState } from "preact/hooks";
import type { Diagram } from "../../src/view/diagram.js";
import type * as engineModule from "./engine.js";
import type { GraphLayout } from "./layout.js";

export type Engine = typeof engineModule;

let loaded: Engine | undefined;
const kept = new WeakMap<Diagram, Map<string, GraphLayout>>();

const keyOf = (folded: ReadonlySet<string>): string => [...folded].sort().join("|");

interface Laid {
  engine: Engine;
  layout: GraphLayout;
}

/** Undefined until the first layout; then the last one, until the next one is ready. */
export function useLayout(diagram: Diagram, folded: ReadonlySet<string>): Laid | undefined {
  const key = keyOf(folded);
  const ready = kept.get(diagram)?.get(key);
  const [, setCount] = useState(0);
  const [last, setLast] = useState<GraphLayout | undefined>(ready);
  useEffect(() => {
    if (ready) return setLast(ready);
    let isGone = false;
    const isStale = () => isGone;
    void (async () => {
      loaded ??= await import("./engine.js");
      const layout = await loaded.layoutInSlices(diagram, folded, isStale);
      if (!layout || isStale()) return;
      const layouts = kept.get(diagram) ?? new Map<string, GraphLayout>();
      kept.set(diagram, layouts.set(key, layout));
      setLast(layout);
      setCount((count) => count + 1);
    })();
    return () => (isGone = true);
  }, [diagram, key, ready]);
  const layout = ready ?? last;
  return loaded && layout ? { engine: loaded, layout } : undefined;
}

/** A graph that can be zoomed, panned and folded, marked with the progress of a run. */
import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Diagram } from "../../src/view/diagram.js";
import { strings } from "../strings.js";
import type { Camera, View } from "./camera.js";
import { Canvas, spoken } from "./canvas.js";
import type { Box } from "./geometry.js";
import type { GraphLayout } from "./layout.js";
import { type NodeFacts, type Progress } from "./marks.js";
import { SmallMap } from "./small-map.js";
import { boxesAround, boxesOf } from "./tree.js";
import { type Engine, useLayout } from "./use-layout.js";

export interface GraphViewProps {
  diagram: Diagram;
  label: string;
  progress?: Partial<Progress>;
  /** Keys of the edges taken; see `wayKey`. */
  taken?: ReadonlySet<string>;
  facts?: ReadonlyMap<string, NodeFacts>;
  /** Colors nodes by a level from 0 to 1. */
  heat?: ReadonlyMap<string, number>;
  /** Nodes with breakpoints before and after them. */
  stops?: Readonly<Record<"before" | "after", ReadonlySet<string>>>;
  /** Sets or removes the breakpoint before a node. */
  onStop?: (node: string) => void;
  /** The node whose details are shown. */
  chosen?: string | undefined;
  onChoose?: (node: string) => void;
}

/** Legend for conditional edges; empty if there are none. */
export const waysHint = ({ edges }: Diagram): string =>
  edges.some(({ conditional }) => conditional) ? strings.graph.conditional : "";

/** Above this number of nodes, subgraphs are folded first and the small map is always shown. */
const MANY = 40;
const MANY_BOXED = 120;
const STEP = 1.25;
const PAN = 60;
/** Scale below which the second line of nodes is hidden. */
const SMALL = 0.7;

export function GraphView(props: GraphViewProps) {
  const { diagram, label, progress } = props;
  const [folded, setFolded] = useFolded(diagram, progress);
  const laid = useLayout(diagram, folded);
  if (!laid) return <div class="graph-view drawing waiting" role="region" aria-label={label} />;
  const fold = (box: string) => {
    const next = new Set(folded);
    if (!next.delete(box)) next.add(box);
    setFolded(next);
  };
  return <Pane {...props} {...laid} folded={folded} onFold={fold} />;
}

type Fold = (folded: ReadonlySet<string>) => void;

/** Subgraphs of big graphs are folded first; those with a failed or running node are unfolded. */
function useFolded(diagram: Diagram, progress: Partial<Progress> | undefined): [ReadonlySet<string>, Fold] {
  const initial = useMemo(
    () => new Set(diagram.nodes.length > MANY_BOXED ? boxesOf(diagram) : []),
    [diagram],
  );
  const [folded, setFolded] = useState<ReadonlySet<string>>(initial);
  useEffect(() => setFolded(initial), [initial]);
  const urgent = [...(progress?.failed ?? [])].flatMap(boxesAround).filter((box) => folded.has(box));
  useEffect(() => {
    if (urgent.length > 0) setFolded(new Set([...folded].filter((box) => !urgent.includes(box))));
  }, [urgent.join("|")]);
  return [folded, setFolded];
}

interface PaneProps extends GraphViewProps {
  engine: Engine;
  layout: GraphLayout;
  folded: ReadonlySet<string>;
  onFold: (box: string) => void;
}

function Pane(props: PaneProps) {
  const { layout, label, diagram, progress, onFold, onChoose, onStop } = props;
  const { svg, inside, camera, view, isFollowing, setFollowing, fit } = useCamera(props);
  const fold = useKeptFold(svg, layout, onFold);
  const onKey = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey || !camera.current) return;
    if (!act(event.key, camera.current, { fit, follow: () => setFollowing(true) })) return;
    event.preventDefault();
  };
  return (
    <div class="graph-view drawing" role="region" aria-label={label} tabIndex={0} onKeyDown={onKey}>
      <svg ref={svg} role={onChoose || onStop ? "group" : "img"} aria-label={spoken(diagram, progress)}>
        <g ref={inside}>
          <Canvas {...props} onFold={fold} />
        </g>
      </svg>
      <Controls
        {...{ view, fit, isFollowing }}
        onZoom={(factor) => camera.current?.zoomBy(factor)}
        onFollow={
          progress?.running && progress.running.size > 0 ? () => setFollowing(!isFollowing) : undefined
        }
      />
      <SmallMap
        layout={layout}
        progress={progress}
        view={view}
        pane={svg}
        isForced={layout.nodes.length > MANY}
        onMove={(box) => camera.current?.center(box, 0)}
      />
    </div>
  );
}

/** Folding replaces the button that was pressed: the focus moves to the one that undoes it. */
function useKeptFold(
  svg: RefObject<SVGSVGElement | null>,
  layout: GraphLayout,
  onFold: (box: string) => void,
): (box: string) => void {
  const pressed = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    const box = pressed.current;
    pressed.current = undefined;
    if (box === undefined || document.activeElement !== document.body) return;
    svg.current?.querySelector<SVGGElement>(`[data-box="${CSS.escape(box)}"]`)?.focus();
  }, [layout]);
  return (box) => {
    pressed.current = box;
    onFold(box);
  };
}

interface Acts {
  fit: () => void;
  follow: () => void;
}

/** Performs the action of a key; false if it has none. */
function act(key: string, camera: Camera, { fit, follow }: Acts): boolean {
  if (key === "+" || key === "=") camera.zoomBy(STEP);
  else if (key === "-") camera.zoomBy(1 / STEP);
  else if (key === "0") fit();
  else if (key === ".") follow();
  else if (key === "ArrowLeft") camera.panBy(PAN, 0);
  else if (key === "ArrowRight") camera.panBy(-PAN, 0);
  else if (key === "ArrowUp") camera.panBy(0, PAN);
  else if (key === "ArrowDown") camera.panBy(0, -PAN);
  else return false;
  return true;
}

/** The camera on the drawing: fits it, follows the running node, and centers the failed one. */
function useCamera({ engine, layout, progress }: PaneProps) {
  const svg = useRef<SVGSVGElement>(null);
  const inside = useRef<SVGGElement>(null);
  const camera = useRef<Camera | undefined>(undefined);
  const view = useSignal<View>({ x: 0, y: 0, k: 1 });
  const [isFollowing, setFollowing] = useState(true);
  /** Whether the user has not moved the drawing. */
  const isFitted = useRef(true);
  const failed = boxOf(layout, progress?.failed);
  const running = boxOf(layout, progress?.running);
  const place = useRef(() => undefined as void);
  place.current = () => {
    camera.current?.fit(layout);
    if (failed) camera.current?.center(failed, 0.9, false);
  };
  useEffect(() => {
    if (!svg.current) return;
    const opened = engine.openCamera(svg.current, (next, isByHand) => {
      inside.current?.setAttribute("transform", `translate(${next.x} ${next.y}) scale(${next.k})`);
      svg.current?.classList.toggle("is-small", next.k < SMALL);
      view.value = next;
      if (!isByHand) return;
      isFitted.current = false;
      setFollowing(false);
    });
    camera.current = opened;
    const observer = new ResizeObserver(() => isFitted.current && place.current());
    observer.observe(svg.current);
    return () => {
      observer.disconnect();
      opened.close();
    };
  }, [engine]);
  useEffect(() => {
    if (isFitted.current) place.current();
  }, [layout, failed && `${failed.x} ${failed.y}`]);
  useEffect(() => {
    if (isFollowing && running) camera.current?.reveal(running);
  }, [isFollowing, running && `${running.x} ${running.y}`]);
  const fit = () => {
    isFitted.current = true;
    camera.current?.fit(layout, true);
  };
  return { svg, inside, camera, view, isFollowing, setFollowing, fit };
}

/** The box around the drawn nodes; a node of a folded subgraph is its subgraph. */
function boxOf(layout: GraphLayout, ids: ReadonlySet<string> | undefined): Box | undefined {
  if (!ids || ids.size === 0) return undefined;
  const found = layout.nodes.filter(
    ({ id, count }) => ids.has(id) || (count > 0 && [...ids].some((each) => each.startsWith(`${id}:`))),
  );
  if (found.length === 0) return undefined;
  const [x, y] = [Math.min(...found.map((box) => box.x)), Math.min(...found.map((box) => box.y))];
  const right = Math.max(...found.map((box) => box.x + box.width));
  const bottom = Math.max(...found.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}

interface ControlsProps {
  view: Signal<View>;
  fit: () => void;
  isFollowing: boolean;
  onZoom: (factor: number) => void;
  onFollow: (() => void) | undefined;
}

function Controls({ view, fit, isFollowing, onZoom, onFollow }: ControlsProps) {
  return (
    <div class="graph-controls" role="group" aria-label={strings.graphView.controls}>
      <button type="button" aria-label={strings.graphView.out} title="-" onClick={() => onZoom(1 / STEP)}>
        −
      </button>
      <output class="graph-scale">{Math.round(view.value.k * 100)}%</output>
      <button type="button" aria-label={strings.graphView.in} title="+" onClick={() => onZoom(STEP)}>
        +
      </button>
      <button
        type="button"
        aria-label={strings.graphView.fit}
        title={`${strings.graphView.fit} (0)`}
        onClick={fit}
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10" />
        </svg>
      </button>
      {onFollow && (
        <button
          type="button"
          aria-label={strings.graphView.follow}
          title={`${strings.graphView.follow} (.)`}
          aria-pressed={isFollowing}
          onClick={onFollow}
        >
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <circle cx="8" cy="8" r="4.5" />
            <path d="M8 1v3M8 12v3M1 8h3M12 8h3" />
          </svg>
        </button>
      )}
    </div>
  );
}

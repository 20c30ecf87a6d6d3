/** SVG drawing of a graph. Its accessible label lists the edges and the progress. */
import { useMemo } from "preact/hooks";
import { type Diagram, type DiagramEdge, wayKey } from "../../src/view/diagram.js";
import { isStoppable } from "../state/breakpoints.js";
import { strings } from "../strings.js";
import { layoutOf, type PlacedNode } from "./layout.js";
import type { Mark, Progress } from "./marks.js";
import { visible } from "./text.js";

const SHOWN = 40;

interface DrawingProps {
  diagram: Diagram;
  label: string;
  progress?: Partial<Progress>;
  /** Keys of the edges taken; see `wayKey`. */
  taken?: ReadonlySet<string>;
  /** Nodes with breakpoints before and after them. */
  stops?: Readonly<Record<"before" | "after", ReadonlySet<string>>>;
  /** Called when a node is clicked. */
  onStop?: (node: string) => void;
}

/** Shapes in addition to colors, most urgent first. */
const SHAPES: Readonly<Record<Mark, string>> = {
  failed: "▲",
  asks: "◆",
  running: "●",
  next: "▸",
  ran: "✓",
};
const MARKS = Object.keys(SHAPES) as Mark[];

/** Legend for conditional edges; empty if there are none. */
export const waysHint = ({ edges }: Diagram): string =>
  edges.some(({ conditional }) => conditional) ? strings.graph.conditional : "";

export function Drawing({ diagram, label, progress, taken, stops, onStop }: DrawingProps) {
  const { nodes, edges, width, height } = useMemo(() => layoutOf(diagram), [diagram]);
  const isTaken = ({ source, target }: DiagramEdge) => taken?.has(wayKey(source, target)) === true;
  return (
    <div class="drawing" tabIndex={0} role="region" aria-label={label}>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role={onStop ? "group" : "img"}
        aria-label={spoken(diagram, progress)}
      >
        <defs>
          <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0,0 L8,4 L0,8 z" class="tip" />
          </marker>
          <marker
            id="tip-taken"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="5"
            markerHeight="5"
            orient="auto"
          >
            <path d="M0,0 L8,4 L0,8 z" class="tip is-taken" />
          </marker>
        </defs>
        {edges.map(({ edge, path, x, y }, index) => (
          <g key={index}>
            <path
              d={path}
              class={`edge ${edge.conditional ? "is-conditional" : ""} ${isTaken(edge) ? "is-taken" : ""}`}
              marker-end={isTaken(edge) ? "url(#tip-taken)" : "url(#tip)"}
            />
            {edge.labels.length > 0 && (
              <text class="edge-label" x={x} y={y} text-anchor="middle">
                {visible(edge.labels.join(", ")).slice(0, SHOWN)}
              </text>
            )}
          </g>
        ))}
        {nodes.map((node) => (
          <Node
            key={node.id}
            node={node}
            marks={MARKS.filter((mark) => progress?.[mark]?.has(node.id))}
            stops={stops}
            onStop={onStop}
          />
        ))}
      </svg>
    </div>
  );
}

interface NodeProps extends Pick<DrawingProps, "stops" | "onStop"> {
  node: PlacedNode;
  marks: Mark[];
}

function Node({ node, marks, stops, onStop }: NodeProps) {
  const { id, x, y, width, height } = node;
  const isEnd = id.startsWith("__");
  const [mark] = marks;
  return (
    <g
      class={["graph-node", isEnd && "is-end", ...marks.map((each) => `is-${each}`)]
        .filter(Boolean)
        .join(" ")}
      {...(onStop && isStoppable(id) && stopButton(id, stops?.before.has(id) ?? false, onStop))}
    >
      <title>{visible(id)}</title>
      <rect x={x} y={y} width={width} height={height} rx={isEnd ? height / 2 : 8} />
      {mark !== undefined && (
        <text class="shape" x={x + 11} y={y + height / 2} text-anchor="middle" dominant-baseline="central">
          {SHAPES[mark]}
        </text>
      )}
      <text x={x + width / 2} y={y + height / 2} text-anchor="middle" dominant-baseline="central">
        {nameOf(id)}
      </text>
      {stops?.before.has(id) && <circle class="stop-dot" cx={x} cy={y} r={5} />}
      {stops?.after.has(id) && <circle class="stop-dot" cx={x} cy={y + height} r={5} />}
    </g>
  );
}

const stopButton = (id: string, isSet: boolean, onStop: (node: string) => void) => ({
  role: "button" as const,
  // Preact passes SVG attributes through: must be lowercase.
  tabindex: 0,
  "aria-pressed": isSet,
  "aria-label": strings.questions.before(visible(id)),
  onClick: () => onStop(id),
  onKeyDown: (event: KeyboardEvent) => {
    if (!["Enter", " ", "b"].includes(event.key)) return;
    event.preventDefault();
    onStop(id);
  },
});

const nameOf = (id: string): string => {
  const name = visible(id.replace(/^__(start|end)__$/, "$1"));
  return name.length > SHOWN ? `${name.slice(0, SHOWN - 1)}…` : name;
};

/** Text alternative: edges and progress. */
function spoken({ edges }: Diagram, progress: Partial<Progress> | undefined): string {
  const ways = edges.map(({ source, target }) => `${nameOf(source)} → ${nameOf(target)}`).join(", ");
  const come = MARKS.map((mark) => [mark, [...(progress?.[mark] ?? [])]] as const)
    .filter(([, ids]) => ids.length > 0)
    .map(([mark, ids]) => `${strings.drawing[mark]}: ${ids.map(nameOf).join(", ")}`);
  return [ways, ...come].join(". ");
}

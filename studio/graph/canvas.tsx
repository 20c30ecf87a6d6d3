/** Draws a laid-out graph: subgraphs, edges, labels, nodes. */
import { memo } from "./memo.js";
import { type Diagram, wayKey } from "../../src/view/diagram.js";
import { isStoppable } from "../state/breakpoints.js";
import { strings } from "../strings.js";
import { visible } from "../components/text.js";
import { pathOf } from "./geometry.js";
import type { GraphViewProps } from "./graph-view.js";
import type { DrawnBox, DrawnEdge, DrawnNode, GraphLayout } from "./layout.js";
import { isEnd, nameOf } from "./layout-names.js";
import { type Mark, markOf, MARKS, type NodeFacts, type Progress } from "./marks.js";

interface CanvasProps extends GraphViewProps {
  layout: GraphLayout;
  onFold: (box: string) => void;
}

export function Canvas(props: CanvasProps) {
  const { layout, progress, taken, onFold } = props;
  const isTaken = ({ edges }: DrawnEdge) =>
    edges.some(({ source, target }) => taken?.has(wayKey(source, target)) === true);
  // Taken edges are drawn last, above the others of their trunk.
  const edges = [...layout.edges].sort((a, b) => Number(isTaken(a)) - Number(isTaken(b)));
  const kindOf = (edge: DrawnEdge): EdgeLook => {
    if (!isTaken(edge)) return "plain";
    return progress?.failed?.has(edge.edges[0]?.target ?? "") === true ? "failed" : "taken";
  };
  return (
    <>
      <Tips />
      {layout.boxes.map((box) => (
        <SubgraphBox key={box.id} box={box} mark={markOf(box.id, progress)} onFold={onFold} />
      ))}
      {edges.map((edge) => (
        <EdgeLine
          key={`${edge.source} ${edge.target} ${edge.edges[0]?.source}`}
          edge={edge}
          look={kindOf(edge)}
        />
      ))}
      {edges.map(
        (edge) =>
          edge.label && (
            <EdgeLabel
              key={`${edge.source} ${edge.target} ${edge.edges[0]?.source}`}
              label={edge.label}
              look={kindOf(edge)}
            />
          ),
      )}
      {layout.nodes.map((node) => (
        <Node
          key={node.id}
          node={node}
          marks={MARKS.filter((mark) => progress?.[mark]?.has(node.id))}
          mark={markOf(node.id, progress)}
          facts={props.facts?.get(node.id)}
          heat={props.heat?.get(node.id)}
          isChosen={props.chosen === node.id}
          isStopBefore={props.stops?.before.has(node.id) === true}
          isStopAfter={props.stops?.after.has(node.id) === true}
          onChoose={props.onChoose}
          onStop={props.onStop}
          onFold={onFold}
        />
      ))}
    </>
  );
}

type EdgeLook = "plain" | "taken" | "failed";
const LOOKS: readonly EdgeLook[] = ["plain", "taken", "failed"];
const CLASSES: Readonly<Record<EdgeLook, string>> = {
  plain: "",
  taken: "is-taken",
  failed: "is-taken is-failed",
};

const Tips = () => (
  <defs>
    {LOOKS.map((look) => (
      <marker
        key={look}
        id={`tip-${look}`}
        viewBox="0 0 8 8"
        refX="7.2"
        refY="4"
        markerWidth="9"
        markerHeight="9"
        markerUnits="userSpaceOnUse"
        orient="auto"
      >
        <path d="M0,0.4 L8,4 L0,7.6 z" class={`tip ${CLASSES[look]}`} />
      </marker>
    ))}
  </defs>
);

const EdgeLine = memo(({ edge, look }: { edge: DrawnEdge; look: EdgeLook }) => (
  <path
    d={pathOf(edge.points)}
    class={`edge ${edge.isStub ? "is-stub" : ""} ${edge.isConditional ? "is-conditional" : ""} ${CLASSES[look]}`}
    {...(edge.hasTip && { "marker-end": `url(#tip-${look})` })}
  />
));

const EdgeLabel = memo(({ label, look }: { label: NonNullable<DrawnEdge["label"]>; look: EdgeLook }) => (
  <g class={`edge-label ${CLASSES[look]}`}>
    <rect x={label.x} y={label.y} width={label.width} height={label.height} rx={4} />
    <text x={label.x + label.width / 2} y={label.y + label.height / 2} {...MIDDLE}>
      {visible(label.text)}
    </text>
  </g>
));

const MIDDLE = { "text-anchor": "middle", "dominant-baseline": "central" } as const;

interface SubgraphBoxProps {
  box: DrawnBox;
  mark: Mark | undefined;
  onFold: (box: string) => void;
}

const SubgraphBox = memo(({ box: { id, x, y, width, height, count }, mark, onFold }: SubgraphBoxProps) => (
  <g class={`graph-box ${mark === "running" ? "is-running" : ""}`}>
    <rect x={x} y={y} width={width} height={height} rx={10} onDblClick={stopping(() => onFold(id))} />
    <FoldButton id={id} isFolded={false} x={x} y={y} onFold={onFold} />
    <text class="box-count" x={x + width - 12} y={y + 17} text-anchor="end" dominant-baseline="central">
      {strings.graphView.nodes(count)}
    </text>
  </g>
));

interface FoldButtonProps {
  id: string;
  isFolded: boolean;
  x: number;
  y: number;
  onFold: (box: string) => void;
}

const FoldButton = ({ id, isFolded, x, y, onFold }: FoldButtonProps) => (
  <g
    class="fold"
    data-box={id}
    role="button"
    tabindex={0}
    aria-expanded={!isFolded}
    aria-label={strings.graphView.fold(visible(id))}
    onClick={() => onFold(id)}
    onKeyDown={onPress(() => onFold(id))}
  >
    <rect x={x + 4} y={y + 4} width={nameOf(id).length * 7.4 + 30} height={26} rx={6} />
    <path d={isFolded ? `M${x + 14},${y + 13} l4,4 l-4,4` : `M${x + 12},${y + 15} l4,4 l4,-4`} />
    <text x={x + 27} y={y + 17} dominant-baseline="central">
      {visible(nameOf(id))}
    </text>
  </g>
);

/** Runs the action without the zoom of a double-click. */
const stopping = (action: () => void) => (event: Event) => {
  event.stopPropagation();
  action();
};

const onPress =
  (action: () => void, keys: readonly string[] = ["Enter", " "]) =>
  (event: KeyboardEvent) => {
    if (!keys.includes(event.key) || event.metaKey || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };

interface NodeProps extends Pick<GraphViewProps, "onChoose" | "onStop"> {
  node: DrawnNode;
  marks: Mark[];
  mark: Mark | undefined;
  facts: NodeFacts | undefined;
  heat: number | undefined;
  isChosen: boolean;
  isStopBefore: boolean;
  isStopAfter: boolean;
  onFold: (box: string) => void;
}

function Node(props: NodeProps) {
  const { node, marks, mark, facts, heat, isChosen, isStopBefore, isStopAfter, onChoose, onStop, onFold } =
    props;
  const { id, x, y, width, height, count } = node;
  const isPill = isEnd(id);
  const canStop = onStop !== undefined && isStoppable(id) && count === 0;
  const open = count > 0 ? () => onFold(id) : onChoose && !isPill ? () => onChoose(id) : undefined;
  const classes = [
    "graph-node",
    isPill && "is-end",
    count > 0 && "is-folded",
    isChosen && "is-chosen",
    heat !== undefined && "is-heat",
    ...new Set([...marks, ...(mark ? [mark] : [])].map((each) => `is-${each}`)),
  ];
  const line =
    count > 0 && heat === undefined ? strings.graphView.nodes(count) : facts && fitting(facts.text, width);
  const middle = y + height / 2;
  return (
    <g class="node-group">
      <g
        class={classes.filter(Boolean).join(" ")}
        {...(heat !== undefined && { style: { "--heat": `${Math.round(heat * MOST_HEAT)}%` } })}
      >
        <g
          class="node-body"
          {...(open && {
            role: "button" as const,
            tabindex: 0,
            "aria-label": spokenNode(id, mark, line),
            ...(count > 0
              ? { "aria-expanded": false, "data-box": id }
              : { "aria-pressed": isChosen, "data-node": id }),
            onClick: open,
            onDblClick: stopping(() => undefined),
            onKeyDown: (event: KeyboardEvent) => {
              onPress(open)(event);
              if (canStop) onPress(() => onStop(id), ["b"])(event);
            },
          })}
        >
          <title>{visible(id)}</title>
          {(mark === "running" || mark === "failed" || isChosen) && (
            <rect class="halo" x={x - 4} y={y - 4} width={width + 8} height={height + 8} rx={11} />
          )}
          <rect class="node-box" x={x} y={y} width={width} height={height} rx={isPill ? height / 2 : 8} />
          <NodeText node={node} mark={isPill ? undefined : mark} line={line} />
        </g>
        {facts !== undefined && facts.count > 1 && <Repeated x={x + width} y={y} count={facts.count} />}
        {isStopAfter && <circle class="stop-dot" cx={x + width / 2} cy={y + height} r={5} />}
      </g>
      {canStop && <Stop id={id} x={x} y={middle} isSet={isStopBefore} onStop={onStop} />}
    </g>
  );
}

interface NodeTextProps {
  node: DrawnNode;
  mark: Mark | undefined;
  /** The second line. */
  line: string | undefined;
}

function NodeText({ node: { id, x, y, width, height }, mark, line }: NodeTextProps) {
  const left = mark === undefined ? x + width / 2 : x + 32;
  const top = line ? y + 15 : y + height / 2;
  const anchor = {
    "text-anchor": mark === undefined ? "middle" : "start",
    "dominant-baseline": "central",
  } as const;
  return (
    <>
      {mark !== undefined && <MarkShape mark={mark} x={x + 18} y={top} />}
      <text class="node-name" x={left} y={top} {...anchor}>
        {visible(nameOf(id))}
      </text>{" "}
      {line && (
        <text class="node-line" x={left} y={y + 31} {...anchor}>
          {line}
        </text>
      )}
    </>
  );
}

/** Share of the accent color in the hottest node, in percent: text keeps its contrast. */
const MOST_HEAT = 46;
const LINE_CHARACTER = 6;
const LINE_PADDING = 40;

/** As many parts of the second line as fit. */
function fitting(text: string, width: number): string {
  const most = (width - LINE_PADDING) / LINE_CHARACTER;
  const parts = text.split(" · ");
  while (parts.length > 1 && parts.join(" · ").length > most) parts.pop();
  return parts.join(" · ");
}

function Repeated({ x, y, count }: { x: number; y: number; count: number }) {
  const text = `×${count}`;
  const width = text.length * 7 + 8;
  return (
    <g class="repeated">
      <rect x={x - width + 6} y={y - 9} width={width} height={17} rx={8.5} />
      <text x={x - width / 2 + 6} y={y - 0.5} {...MIDDLE}>
        {text}
      </text>
    </g>
  );
}

interface StopProps {
  id: string;
  x: number;
  y: number;
  isSet: boolean;
  onStop: (node: string) => void;
}

/** The breakpoint before a node: a dot on its left side, shown when it is set or could be. */
const Stop = ({ id, x, y, isSet, onStop }: StopProps) => (
  <g
    class={`stop ${isSet ? "is-set" : ""}`}
    role="button"
    tabindex={0}
    aria-pressed={isSet}
    aria-label={strings.questions.before(visible(id))}
    onClick={() => onStop(id)}
    onDblClick={stopping(() => undefined)}
    onKeyDown={onPress(() => onStop(id), ["Enter", " ", "b"])}
  >
    <title>{strings.graphView.breakpoint(visible(nameOf(id)), isSet)}</title>
    <circle class="stop-area" cx={x} cy={y} r={11} />
    <circle class="stop-dot" cx={x} cy={y} r={5.5} />
  </g>
);

/** Shapes in addition to colors. */
function MarkShape({ mark, x, y }: { mark: Mark; x: number; y: number }) {
  return (
    <g class="shape" transform={`translate(${x} ${y})`} aria-hidden="true">
      {mark === "next" ? <path class="fill" d="M-3,-5 L5,0 L-3,5 z" /> : <circle r={7} />}
      {mark === "ran" && <path d="M-3.2,0.2 L-0.8,2.6 L3.4,-2.4" />}
      {mark === "asks" && <path d="M-2,-2.6 V2.6 M2,-2.6 V2.6" />}
      {mark === "failed" && <path d="M-2.5,-2.5 L2.5,2.5 M2.5,-2.5 L-2.5,2.5" />}
      {mark === "running" && <path class="arc" d="M0,-7 A7,7 0 0 1 7,0" />}
    </g>
  );
}

const spokenNode = (id: string, mark: Mark | undefined, line: string | undefined): string =>
  [[visible(id), line].filter(Boolean).join(" "), mark && strings.drawing[mark]].filter(Boolean).join(", ");

/** Text alternative: edges and progress. */
export function spoken({ edges }: Diagram, progress: Partial<Progress> | undefined): string {
  const shown = (id: string) => visible(id.replace(/^__(start|end)__$/, "$1"));
  const ways = edges.map(({ source, target }) => `${shown(source)} → ${shown(target)}`).join(", ");
  const come = MARKS.map((mark) => [mark, [...(progress?.[mark] ?? [])]] as const)
    .filter(([, ids]) => ids.length > 0)
    .map(([mark, ids]) => `${strings.drawing[mark]}: ${ids.map(shown).join(", ")}`);
  return [ways, ...come].join(". ");
}

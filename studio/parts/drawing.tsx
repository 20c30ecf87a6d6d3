/** The drawing of a graph. Its nodes and ways are listed for those who do not see it. */
import { useMemo } from "preact/hooks";
import type { Diagram } from "../../src/view/diagram.js";
import { layoutOf } from "./layout.js";
import { visible } from "./text.js";

const SHOWN = 40;

export function Drawing({ diagram, label }: { diagram: Diagram; label: string }) {
  const { nodes, edges, width, height } = useMemo(() => layoutOf(diagram), [diagram]);
  return (
    <div class="drawing" tabIndex={0} role="region" aria-label={label}>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label={spoken(diagram)}
      >
        <defs>
          <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0,0 L8,4 L0,8 z" class="tip" />
          </marker>
        </defs>
        {edges.map(({ edge, path, x, y }, index) => (
          <g key={index}>
            <path
              d={path}
              class={`edge ${edge.conditional ? "is-conditional" : ""}`}
              marker-end="url(#tip)"
            />
            {edge.labels.length > 0 && (
              <text class="edge-label" x={x} y={y} text-anchor="middle">
                {visible(edge.labels.join(", ")).slice(0, SHOWN)}
              </text>
            )}
          </g>
        ))}
        {nodes.map(({ id, x, y, width: wide, height: high }) => (
          <g key={id} class={`graph-node ${id.startsWith("__") ? "is-end" : ""}`}>
            <title>{visible(id)}</title>
            <rect x={x} y={y} width={wide} height={high} rx={id.startsWith("__") ? high / 2 : 8} />
            <text x={x + wide / 2} y={y + high / 2} text-anchor="middle" dominant-baseline="central">
              {nameOf(id)}
            </text>
          </g>
        ))}
      </svg>
    </div>
  );
}

const nameOf = (id: string): string => {
  const name = visible(id.replace(/^__(start|end)__$/, "$1"));
  return name.length > SHOWN ? `${name.slice(0, SHOWN - 1)}…` : name;
};

const spoken = ({ edges }: Diagram): string =>
  edges.map(({ source, target }) => `${nameOf(source)} → ${nameOf(target)}`).join(", ");

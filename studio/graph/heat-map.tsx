/** A graph whose nodes are colored by what they took over the runs of a period, with the numbers beside it. */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { NodeUsage, NodeUsageSums } from "../../src/models/usage.js";
import type { Diagram } from "../../src/view/diagram.js";
import { Empty, Fault, Waiting } from "../components/common.js";
import { visible } from "../components/text.js";
import { go, href, withQuery } from "../router.js";
import { SINCE } from "../state/all-runs.js";
import { onChange, throttled } from "../state/changes.js";
import {
  amountOf,
  amountText,
  heat,
  heatPeriod,
  highest,
  type Measure,
  measure,
  MEASURES,
  nodeText,
  reloadHeat,
} from "../state/heat.js";
import { strings } from "../strings.js";
import { GraphView } from "./graph-view.js";

/** Minimum interval of reloads after changes. */
const REFRESH_MS = 2000;

interface HeatMapProps {
  graph: string;
  diagram: Diagram;
}

export function HeatMap({ graph, diagram }: HeatMapProps) {
  const since = heatPeriod.value;
  useEffect(() => {
    heat.value.value = undefined;
    void reloadHeat(graph);
    return onChange(throttled(() => reloadHeat(graph), REFRESH_MS));
  }, [graph, since]);
  const [error, sums, by] = [heat.error.value, heat.value.value, measure.value];
  if (by === undefined) return null;
  if (error) return <Fault error={error} retry={() => void reloadHeat(graph)} />;
  if (!sums) return <Waiting />;
  if (sums.runs === 0) return <Empty title={strings.heat.noRuns[since]} hint={strings.heat.noRunsHint} />;
  if (sums.nodes.length === 0)
    return <Empty title={strings.heat.noTimes(sums.runs)} hint={strings.heat.noTimesHint} />;
  return <Filled graph={graph} diagram={diagram} sums={sums} by={by} />;
}

interface FilledProps extends HeatMapProps {
  sums: NodeUsageSums;
  by: Measure;
}

function Filled({ graph, diagram, sums: { nodes, runs, is_complete }, by }: FilledProps) {
  const [chosen, choose] = useState<string | undefined>(undefined);
  const most = highest(nodes, by);
  const facts = useMemo(
    () => new Map(nodes.map((node) => [node.node, { text: nodeText(node, by), count: 0 }])),
    [nodes, by],
  );
  const levels = useMemo(
    () => new Map(nodes.map((node) => [node.node, most === 0 ? 0 : amountOf(node, by) / most])),
    [nodes, by],
  );
  return (
    <>
      <p class="heat-head">
        {most === 0 ? (
          <strong>{strings.heat.nothing[by]}</strong>
        ) : (
          <span class="heat-legend">
            {amountText(0, by)} <span class="heat-scale" aria-hidden="true" /> {amountText(most, by)}{" "}
            {strings.heat.unit[by]}
          </span>
        )}
        <span class="dim">{strings.heat.runs(runs, is_complete)}</span>
      </p>
      <div class="heat">
        <GraphView
          diagram={diagram}
          label={`${strings.graph.drawing} ${graph}`}
          facts={facts}
          heat={levels}
          chosen={chosen}
          onChoose={(node) => choose(chosen === node ? undefined : node)}
        />
        <section class="heat-side">
          <Numbers nodes={nodes} by={by} most={most} chosen={chosen} />
          <p class="small-text">
            <a href={runsHref(graph, { sort: "-duration" })}>{strings.heat.slowest}</a>{" "}
            <a href={runsHref(graph, { status: "error" })}>{strings.heat.failed}</a>
          </p>
        </section>
      </div>
    </>
  );
}

const runsHref = (graph: string, query: Record<string, string>): string =>
  href(["runs"], { graph, since: heatPeriod.value, ...query });

interface NumbersProps {
  nodes: readonly NodeUsage[];
  by: Measure;
  most: number;
  chosen: string | undefined;
}

/** Highest first. */
function Numbers({ nodes, by, most, chosen }: NumbersProps) {
  const sorted = [...nodes].sort((a, b) => amountOf(b, by) - amountOf(a, by));
  return (
    <table class={`heat-table by-${by}`} aria-label={strings.heat.table}>
      <thead>
        <tr>
          <th scope="col">{strings.heat.node}</th>
          {MEASURES.map((each) => (
            <th
              key={each}
              scope="col"
              class={`is-${each}`}
              aria-sort={each === by ? "descending" : undefined}
            >
              {strings.heat.columns[each]}
            </th>
          ))}
          <th scope="col">{strings.heat.count}</th>
        </tr>
      </thead>
      <tbody>
        {sorted.map((node) => (
          <tr key={node.node} aria-current={chosen === node.node ? "true" : undefined}>
            <th scope="row">
              {visible(node.node.replaceAll(":", " › "))}
              <span class="heat-bar" aria-hidden="true">
                <span style={{ width: `${most === 0 ? 0 : (amountOf(node, by) / most) * 100}%` }} />
              </span>
            </th>
            {MEASURES.map((each) => (
              <td key={each} class={`is-${each} ${each === "errors" && node.errors > 0 ? "bad" : ""}`}>
                {each === "tokens" && node.total_tokens === 0 ? "–" : nodeText(node, each)}
              </td>
            ))}
            <td>{node.count.toLocaleString("en")}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Chooses what the nodes are colored by, and the period. */
export function HeatChoices() {
  return (
    <div class="heat-choices">
      <nav class="choices" aria-label={strings.heat.by}>
        {[undefined, ...MEASURES].map((each) => (
          <a
            key={each ?? "none"}
            href={withQuery({ heat: each })}
            aria-current={measure.value === each ? "true" : undefined}
          >
            {each === undefined ? strings.heat.none : strings.heat.measures[each]}
          </a>
        ))}
      </nav>
      {measure.value !== undefined && (
        <label>
          <span class="visually-hidden">{strings.heat.period}</span>
          <select
            value={heatPeriod.value}
            onChange={({ currentTarget }) => go(withQuery({ since: currentTarget.value }), { replace: true })}
          >
            {(Object.keys(SINCE) as (keyof typeof SINCE)[]).map((each) => (
              <option key={each} value={each}>
                {strings.allRuns[each]}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}

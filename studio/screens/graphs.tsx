/** Served graphs with their drawing and schemas. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Assistant, GraphDrawing, GraphSchema } from "../../src/models/assistant.js";
import { diagramOf } from "../../src/view/diagram.js";
import { ask } from "../api.js";
import { brokenGraph } from "../components/problems.js";
import { Empty, Fault, Section, Waiting } from "../components/common.js";
import { HeatChoices, HeatMap } from "../graph/heat-map.js";
import { GraphView, waysHint } from "../graph/graph-view.js";
import { withoutInnerEnds } from "../graph/tree.js";
import { Copy, Value, visible } from "../components/text.js";
import { href, place } from "../router.js";
import { hello } from "../state/hello.js";
import { measure } from "../state/heat.js";
import { load, loading } from "../state/loading.js";
import { strings } from "../strings.js";

const list = loading<Assistant[]>();
const drawing = loading<GraphDrawing>();
const schemas = loading<GraphSchema>();

const readList = async () =>
  (await ask<Assistant[]>("POST", "/assistants/search", { body: { limit: 100 } })).body;

export function Graphs() {
  useEffect(() => void load(list, readList), []);
  return (
    <main id="content" class="screen narrow" tabIndex={-1}>
      <header class="screen-head">
        <h1>{strings.graphs}</h1>
      </header>
      <GraphList />
    </main>
  );
}

function GraphList() {
  const { value: listed } = list.value;
  if (list.error.value) return <Fault error={list.error.value} retry={() => void load(list, readList)} />;
  if (!listed) return <Waiting />;
  // The API lists only the default graph unless configured otherwise; `dev` lists all.
  const others = (hello.value?.graphs ?? []).filter((id) => !listed.some(({ graph_id }) => graph_id === id));
  const graphs = [...listed, ...others.map((id) => ({ graph_id: id, name: id, description: null }))];
  if (graphs.length === 0)
    return (
      <Empty title={strings.graph.none} hint={strings.graph.noneHint} command="graph-serve dev ./graph.ts" />
    );
  return (
    <ul class="threads" data-list>
      {graphs.map(({ graph_id, name, description }) => (
        <li key={graph_id}>
          <a class="thread" href={href(["graphs", graph_id])}>
            <span class="preview">
              {visible(name)}
              {brokenGraph(graph_id) && <span class="badge is-failed">{strings.problems.mark}</span>}
            </span>
            <span class="facts">
              {name !== graph_id && <code>{visible(graph_id)}</code>}
              {description !== null && <span>{visible(description)}</span>}
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}

export function Graph() {
  const id = place.value.path[1] ?? "";
  const isGone = useRef(false);
  const read = () => {
    const path = `/assistants/${encodeURIComponent(id)}`;
    const isStale = () => isGone.current;
    void load(drawing, async () => (await ask<GraphDrawing>("GET", `${path}/graph?xray=true`)).body, isStale);
    void load(schemas, async () => (await ask<GraphSchema>("GET", `${path}/schemas`)).body, isStale);
  };
  // The page shows another graph with another component.
  useEffect(() => {
    for (const { value, error } of [drawing, schemas]) value.value = error.value = undefined;
    read();
    return () => (isGone.current = true);
  }, []);
  const { value: drawn } = drawing.value;
  const shown = useMemo(() => drawn && withoutInnerEnds(diagramOf(drawn)), [drawn]);
  return (
    <main id="content" class="screen" tabIndex={-1}>
      <header class="screen-head">
        <a class="back" href={href(["graphs"])}>
          ← {strings.graphs}
        </a>
        <h1>{visible(id)}</h1>
      </header>
      {drawing.error.value ? (
        <Fault error={drawing.error.value} retry={read} />
      ) : drawn && shown ? (
        <>
          <p class="drawing-head dim">
            {waysHint(shown)} <Copy label={strings.graph.mermaid} text={() => mermaidOf(drawn)} />
          </p>
          <HeatChoices />
          {measure.value === undefined ? (
            <GraphView diagram={shown} label={`${strings.graph.drawing} ${id}`} />
          ) : (
            <HeatMap graph={id} diagram={shown} />
          )}
        </>
      ) : (
        <Waiting />
      )}
      <Schemas retry={read} />
    </main>
  );
}

const KINDS = ["input", "output", "state", "config", "context"] as const;

function Schemas({ retry }: { retry: () => void }) {
  const [{ value: all }, error] = [schemas.value, schemas.error.value];
  // An error of both requests is shown once, in place of the drawing.
  if (!all && (!error || drawing.error.value)) return null;
  if (!all)
    return (
      <Section title={strings.graph.schemas} level={2}>
        {error && <Fault error={error} retry={retry} />}
      </Section>
    );
  return (
    <Section title={strings.graph.schemas} level={2}>
      {KINDS.map((kind) => {
        const schema = all[`${kind}_schema`];
        return (
          <details key={kind}>
            <summary>
              {strings.graph[kind]} {schema === null && <span class="dim">{strings.graph.noSchema}</span>}
            </summary>
            {schema !== null && <Value value={schema} />}
          </details>
        );
      })}
    </Section>
  );
}

/** Mermaid source with generated ids and quoted names. */
function mermaidOf(drawn: GraphDrawing): string {
  const { nodes, edges } = diagramOf(drawn);
  const ids = new Map(nodes.map(({ id }, index) => [id, `n${index}`]));
  const quoted = (text: string) => `"${text.replaceAll('"', "#quot;")}"`;
  return [
    "flowchart TD",
    ...nodes.map(({ id }) => `  ${ids.get(id)}[${quoted(id)}]`),
    ...edges.map(({ source, target, conditional, labels }) => {
      const label = labels.length > 0 ? `|${quoted(labels.join(", "))}|` : "";
      return `  ${ids.get(source)} ${conditional ? "-.->" : "-->"}${label} ${ids.get(target)}`;
    }),
  ].join("\n");
}

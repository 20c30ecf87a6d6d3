/** All graphs of the leak search, with their inputs. */
import { FINE, leak } from "./mark.js";

export * from "./bare-graphs.js";
export * from "./nested-graphs.js";
export * from "./state-graphs.js";

export interface Walked {
  /** Name of the graph and of its export. */
  id: string;
  file: "bare-graphs" | "nested-graphs" | "state-graphs";
  input: unknown;
  /** Hidden state keys and their final values. */
  hidden?: Record<string, unknown>;
}

const asked = { topic: FINE };
const said = { messages: [{ role: "user", content: FINE }] };

const STATE: Omit<Walked, "file">[] = [
  { id: "annotation", input: asked, hidden: { secret: leak("annotation.command") } },
  { id: "zod", input: asked, hidden: { secret: leak("zod.secret"), deep: { inner: leak("zod.deep") } } },
  { id: "agent", input: said, hidden: { _notes: leak("agent.notes") } },
  { id: "send", input: asked },
  { id: "tasks", input: asked },
  { id: "conflict", input: asked },
  { id: "unknown", input: asked, hidden: { secret: leak("unknown.secret"), shown: leak("unknown.shown") } },
];
const NESTED: Omit<Walked, "file">[] = [
  { id: "openSubgraphs", input: asked, hidden: { private: leak("openSubgraphs.leaf.private") } },
  { id: "narrowSubgraph", input: asked, hidden: { outside: leak("narrowSubgraph.outside") } },
  { id: "called", input: asked, hidden: { private: leak("called.private") } },
  { id: "declared", input: asked, hidden: { private: leak("declared.private") } },
  { id: "toParent", input: asked, hidden: { secret: leak("toParent.secret") } },
];
const BARE: Omit<Walked, "file">[] = [
  { id: "functional", input: asked, hidden: { __previous__: leak("functional.saved") } },
  { id: "pregel", input: FINE, hidden: { inner: leak("pregel.inner") } },
  { id: "pregelKeys", input: FINE, hidden: { inner: leak("pregelKeys.inner") } },
];

export const WALKED: readonly Walked[] = [
  ...STATE.map((each): Walked => ({ file: "state-graphs", ...each })),
  ...NESTED.map((each): Walked => ({ file: "nested-graphs", ...each })),
  ...BARE.map((each): Walked => ({ file: "bare-graphs", ...each })),
];

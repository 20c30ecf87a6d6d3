import type { Recorder } from "./recorder.js";

const PAGE = { sort_by: "created_at", sort_order: "asc" };

/** Filters used as is for searches and counts. */
const FILTERS: object[] = [
  {},
  { status: "idle" },
  { status: "busy" },
  { status: "interrupted" },
  { metadata: { kind: "chat" } },
  { metadata: { even: true, owner: { name: "Bo" } } },
  { metadata: { owner: { tags: ["ask"] } } },
  { metadata: { owner: { tags: ["x", "ask"] } }, status: "idle" },
  { metadata: { index: "1" } },
  { metadata: { index: null } },
  { metadata: { graph_id: "chat" } },
  { metadata: { $where: "1" } },
  { metadata: { $where: "true" } },
  { metadata: { "a.b": { $gt: "" } } },
  { metadata: { a: { b: { $gt: "" } } } },
  { metadata: { kind: { $ne: "chat" } } },
  { metadata: { "owner.name": "Ada" } },
  { metadata: { "": "empty" } },
  { metadata: { constructor: 1, 'q"': "'; --" } },
  { values: { n: 10 } },
  { values: { log: ["seeded"] } },
  { values: { answer: "perhaps" }, status: "idle" },
  { values: { secret: "plan for cats, done" } },
  { values: { messages: [{ type: "ai" }] } },
  { values: { $where: "true" } },
  { values: { n: { $gt: 0 } } },
  { values: { "messages.0.type": "human" } },
  { ids: [] },
];

export async function searches({ ask, quietly, note }: Recorder): Promise<void> {
  for (const filter of FILTERS) {
    await ask("POST /threads/search", { ...filter, ...PAGE, limit: 50 });
    await ask("POST /threads/count", filter);
  }
  for (const sort_by of ["thread_id", "status", "created_at"]) {
    for (const sort_order of ["asc", "desc"]) {
      await ask("POST /threads/search", { ...PAGE, sort_by, sort_order, metadata: { even: true } });
    }
  }
  const all = (await quietly("POST /threads/search", { ...PAGE, limit: 100 })).body as object[];
  for (const filter of [{}, { status: "idle" }, { values: {} }]) {
    for (let offset = 0; offset <= all.length; offset += 3) {
      await ask("POST /threads/search", { ...PAGE, ...filter, limit: 3, offset });
    }
  }
  const selected = await quietly("POST /threads/search", {
    ...PAGE,
    limit: 3,
    select: ["thread_id", "ttl"],
    extract: { last: "values.messages[-1].content", kind: "metadata.kind", none: "values.nothing" },
  });
  note("selected", selected.body);
  note("newest", await newest(quietly));
}

/** Metadata of the most recently updated thread. */
async function newest(quietly: Recorder["quietly"]): Promise<unknown> {
  const [first] = (await quietly("POST /threads/search", { limit: 1 })).body as { metadata: object }[];
  return first?.metadata;
}

/**
 * `query` in thread searches and counts: text search over the data of a thread that clients may see, on every
 * backend.
 */
import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import type { Thread } from "../../src/models/thread.js";
import { newId } from "../../src/support/ids.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";
import { byHeader } from "../helpers/two-users.js";

const HIDDEN = "pomegranate";
const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  notes: Annotation<unknown>,
  secret: Annotation<string>,
});
const Visible = Annotation.Root({ ...MessagesAnnotation.spec, notes: State.spec.notes });

/** Answers a message, stores notes and hides a secret. */
const talk = new StateGraph({ stateSchema: State, output: Visible })
  .addNode("answer", ({ messages }) => ({
    messages: [
      { role: "assistant", content: [{ type: "text", text: `Echo ${messages.at(-1)?.text ?? ""}` }] },
    ],
    secret: HIDDEN,
  }))
  .addEdge(START, "answer")
  .compile({ name: "talk" });

async function talked(
  server: TestServer,
  content: string,
  more: { notes?: unknown; metadata?: object } = {},
) {
  const { notes, metadata = {} } = more;
  const { thread_id } = await server.service.threads.create({ metadata: { ...metadata } });
  const input = { messages: [{ role: "user", content }], notes };
  await server.service.runs.create(thread_id, { assistant_id: "talk", input });
  return thread_id;
}

async function search(server: TestServer, body: object, headers = {}) {
  const answer = await server.request("POST", "/threads/search", { select: ["thread_id"], ...body }, headers);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  const ids = (answer.body as Thread[]).map(({ thread_id }) => thread_id);
  const [total, next] = ["total", "next"].map((name) => answer.headers.get(`x-pagination-${name}`));
  return { ids, total, next };
}

onEveryBackend("a text search", (backend) => {
  it("threads are found by id, metadata and visible values only", async () => {
    const server = await startTestServer({ graphs: { talk }, storage: await keptStorage(backend()) });
    const [tag, word] = [newId().slice(-12), `Kürbis ${newId().slice(-12)}`];
    const empty = (await server.service.threads.create({ metadata: { [`key-${tag}`]: 12345 } })).thread_id;
    const first = await talked(server, word, { metadata: { tag } });
    const second = await talked(server, "nothing", { notes: { deep: [[{ of: `see ${word}` }]] } });
    const found = async (query: string) => (await search(server, { query })).ids.sort();
    const count = async (body: object) => (await server.request("POST", "/threads/count", body)).body;

    expect(await found(word)).toEqual([first, second].sort());
    expect(await found(`ECHO ${word.toUpperCase()}`)).toEqual([first]);
    expect(await found(tag)).toEqual([empty, first].sort());
    expect(await found(first.toUpperCase())).toEqual([first]);
    expect(await count({ query: word })).toBe(2);
    expect(await count({ query: word, metadata: { tag } })).toBe(1);
    expect(await count({ query: word, values: { notes: { deep: [] } } })).toBe(1);
    for (const ids of [[first], [first, second]]) {
      expect(await search(server, { ids, query: HIDDEN })).toEqual({ ids: [], total: "0", next: null });
      expect(await count({ ids, query: HIDDEN })).toBe(0);
    }
  });
});

describe("a text search", () => {
  it("results are paginated, and the total is returned on the last page", async () => {
    const server = await startTestServer({ graphs: { talk } });
    const made: string[] = [];
    for (const name of ["a", "b", "c"]) made.unshift(await talked(server, `same ${name}`));
    await talked(server, "other");
    const page = (limit: number, offset: number) => search(server, { query: "same", limit, offset });
    expect(await page(2, 0)).toEqual({ ids: made.slice(0, 2), total: null, next: "2" });
    expect(await page(2, 2)).toEqual({ ids: made.slice(2), total: "3", next: null });
    expect(await page(3, 0)).toEqual({ ids: made, total: "3", next: null });
    expect(await page(2, 5)).toEqual({ ids: [], total: "3", next: null });
  });

  it("message types, message ids and binary data are not searched", async () => {
    const server = await startTestServer({ graphs: { talk } });
    const data = "A".repeat(5000);
    await talked(server, "hello", { notes: [{ type: "image", source_type: "base64", data }] });
    const { messages } = (await server.service.threads.search({})).items[0]!.values as {
      messages: { id: string; type: string }[];
    };
    expect(messages).toHaveLength(2);
    for (const query of ["human", messages[0]!.id, "AAAA"])
      expect((await search(server, { query })).ids).toEqual([]);
    expect((await search(server, { query: "base64" })).ids).toHaveLength(1);
  });

  it("only the caller's threads are found", async () => {
    const server = await startTestServer({ graphs: { talk }, authenticate: byHeader });
    const metadata = { topic: HIDDEN };
    await server.request("POST", "/threads", { metadata }, { user: "ann" });
    expect((await search(server, { query: HIDDEN }, { user: "ann" })).ids).toHaveLength(1);
    expect((await search(server, { query: HIDDEN }, { user: "bob" })).ids).toEqual([]);
  });

  it.each(["", "x".repeat(201), 7])("the query %j is rejected", async (query) => {
    const server = await startTestServer({ graphs: { talk } });
    for (const path of ["search", "count"]) {
      const answer = await server.request("POST", `/threads/${path}`, { query });
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "query"] }] } });
    }
  });
});

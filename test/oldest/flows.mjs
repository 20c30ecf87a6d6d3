// Client flows against a server on the oldest supported line of LangGraph; scripts/test-oldest.mjs runs them
// in a separate project.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { Client } from "@langchain/langgraph-sdk";

const client = new Client({ apiUrl: process.env.SERVER_URL, apiKey: null });
const says = (content) => ({ messages: [{ role: "user", content }] });
const textsOf = ({ messages }) => messages.map(({ content }) => content);

const newThread = async () => (await client.threads.create()).thread_id;
const wait = (thread, content) => client.runs.wait(thread, "agent", { input: says(content) });

test("runs.wait returns the final state", async () => {
  assert.deepEqual(textsOf(await wait(await newThread(), "hi")), ["hi", "one two three"]);
});

test("a run streams several modes", async () => {
  const events = {};
  const streamMode = ["values", "updates", "custom", "messages-tuple"];
  for await (const { event, data } of client.runs.stream(await newThread(), "agent", {
    input: says("hi"),
    streamMode,
  }))
    (events[event] ??= []).push(data);
  assert.deepEqual(textsOf(events.values.at(-1)), ["hi", "one two three"]);
  assert.deepEqual(Object.keys(events.updates[0]), ["model"]);
  assert.deepEqual(events.custom, [{ step: "model" }]);
  const tokens = events.messages.map(([message]) => message.content);
  assert.equal(tokens.slice(0, "one two three".length).join(""), "one two three");
  assert.ok(tokens.length > 1, "tokens must arrive one by one");
});

test("an interrupt is answered", async () => {
  const thread = await newThread();
  const asked = await wait(thread, "ask");
  assert.equal(asked.__interrupt__[0].value, "really?");
  const answered = await client.runs.wait(thread, "agent", { command: { resume: "yes" } });
  assert.deepEqual(textsOf(answered), ["ask", "one two three", "yes"]);
});

test("a thread is forked from its history", async () => {
  const thread = await newThread();
  await wait(thread, "hi");
  const history = await client.threads.getHistory(thread);
  const before = history.find(({ next }) => next[0] === "model");
  const { checkpoint } = await client.threads.updateState(thread, {
    values: says("again"),
    checkpointId: before.checkpoint.checkpoint_id,
    asNode: "__start__",
  });
  const forked = await client.runs.wait(thread, "agent", { input: null, checkpoint });
  assert.deepEqual(textsOf(forked).slice(-2), ["again", "one two three"]);
  assert.ok((await client.threads.getHistory(thread)).length > history.length);
});

test("graph schemas are returned", async () => {
  const { state_schema } = await client.assistants.getSchemas("agent");
  assert.deepEqual(Object.keys(state_schema.properties), ["messages"]);
});

test("the store is shared with the graph", async () => {
  const text = randomUUID();
  await wait(await newThread(), text);
  assert.deepEqual((await client.store.getItem(["notes"], "last")).value, { text });
  await client.store.putItem(["notes"], "own", { text });
  assert.deepEqual((await client.store.getItem(["notes"], "own")).value, { text });
});

test("the events of a thread include its run", async () => {
  const path = `${process.env.SERVER_URL}/threads/${randomUUID()}`;
  const post = (to, body, signal) => fetch(path + to, { method: "POST", body: JSON.stringify(body), signal });
  const params = { assistant_id: "agent", input: says("hi") };
  assert.equal((await post("/commands", { id: 1, method: "run.start", params })).status, 200);
  const left = new AbortController();
  const stream = await post("/stream/events", { channels: ["values", "messages", "lifecycle"] }, left.signal);
  let text = "";
  for await (const piece of stream.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (/"namespace":\[\],[^\n]*"event":"completed"/.test(text)) break;
  }
  left.abort();
  assert.match(text, /"message-start"/);
  assert.match(text, /one two three/);
});

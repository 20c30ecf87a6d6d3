/** Readers that never read: the memory used for them does not grow with their number. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Annotation, END, START, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { expect, it, onTestFinished } from "vitest";
import { startTestServer } from "../helpers/app.js";
import { bytesInUse } from "../helpers/heap.js";
import { holdTimers } from "../helpers/held-timers.js";
import { recordingLogger } from "../helpers/service.js";
import { allEvents } from "../helpers/sse.js";

const MB = 1024 * 1024;
const READERS = 120;
const FRAMES = 14;
const TIMEOUT_SECONDS = 15;

/** Writes as much as is stored of a run, in large chunks. */
const graph = new StateGraph(Annotation.Root({ done: Annotation<boolean> }))
  .addNode("write", (_, { writer }: LangGraphRunnableConfig) => {
    for (let index = 0; index < FRAMES; index += 1) writer?.({ index, text: "x".repeat(MB) });
    return { done: true };
  })
  .addEdge(START, "write")
  .addEdge("write", END)
  .compile({ name: "large" });

async function join(url: string, path: string): Promise<Socket> {
  const { port } = new URL(url);
  const socket = connect({ port: Number(port), host: "127.0.0.1" });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: -1\r\n\r\n`);
  await once(socket, "readable");
  return socket;
}

it(
  "idle readers of an ended run share its frames and are disconnected after the timeout",
  { timeout: 120_000 },
  async () => {
    const logger = recordingLogger();
    const timers = holdTimers(TIMEOUT_SECONDS * 1000);
    const settings = { unread_timeout_seconds: TIMEOUT_SECONDS };
    const server = await startTestServer({ graphs: { large: graph }, settings, logger });
    const { thread_id } = await server.service.threads.create({});
    const run = { assistant_id: "large", input: { done: false }, stream_mode: ["custom" as const] };
    const whole = await allEvents(await server.fetch("POST", `/threads/${thread_id}/runs/stream`, run));
    const { run_id } = whole[0]?.data as { run_id: string };
    const path = `/threads/${thread_id}/runs/${run_id}/stream`;
    const follow = async () => allEvents(await server.fetch("GET", path));
    expect(await follow()).toEqual(whole);

    const before = await bytesInUse();
    const sockets = await Promise.all(Array.from({ length: READERS }, () => join(server.url, path)));
    expect(sockets.filter(({ destroyed }) => destroyed)).toEqual([]);
    expect((await bytesInUse()) - before).toBeLessThan(READERS * 0.3 * MB);
    expect(await follow()).toEqual(whole);

    const cut = () => logger.of("warn").filter((message) => message.includes("read nothing for 15 s")).length;
    expect(cut()).toBe(0);
    timers.fire();
    await expect.poll(cut, { timeout: 60_000 }).toBe(READERS);
    expect(logger.lines.find(({ level }) => level === "warn")?.fields).toMatchObject({ run_id });
  },
);

/**
 * Request bodies being read share a memory budget: the largest ones are rejected first, small ones are still
 * accepted.
 */
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { serve } from "../helpers/app.js";
import { fakeService, someThread } from "../helpers/fake-service.js";

const MB = 2 ** 20;

async function smallServer() {
  const threads = { create: async () => someThread };
  return serve(fakeService({ settings: { max_incoming_bytes: 2 * MB }, threads }));
}

/** Starts a request with a 10 MB body and sends the first `bytes` of it. */
function begin(url: string, bytes: number) {
  const headers = { "content-length": 10 * MB };
  const request = httpRequest(`${url}/threads`, { method: "POST", headers });
  const answer = once(request, "response") as Promise<[IncomingMessage]>;
  answer.catch(() => undefined);
  request.on("error", () => undefined);
  request.write(Buffer.alloc(bytes, " "));
  return { answer, leave: () => request.destroy() };
}

it("the largest body is rejected when the budget is full, and small bodies are accepted", async () => {
  const { url, request } = await smallServer();
  const large = [0.9, 0.8, 0.7].map((size) => begin(url, size * MB));
  const refused: unknown[] = [];
  for (const { answer } of large) {
    const note = ([{ statusCode, headers }]: [IncomingMessage]) =>
      refused.push([statusCode, headers["retry-after"]]);
    void answer.then(note, () => undefined);
  }
  await expect.poll(() => refused).toEqual([[503, "1"]]);
  // Two large bodies remain. They are not rejected for a small body while the budget has room.
  expect((await request("POST", "/threads", {})).status).toBe(200);
  expect(refused).toHaveLength(1);
  expect((await request("POST", "/threads", { metadata: { a: "x".repeat(0.6 * MB) } })).status).toBe(200);
  for (const one of large) one.leave();
});

it("decompressed bytes count against the budget", async () => {
  const { request } = await smallServer();
  const text = JSON.stringify({ metadata: { a: "x".repeat(3 * MB) } });
  const headers = { "content-encoding": "gzip" };
  const answer = await request("POST", "/threads", gzipSync(text), headers);
  expect(answer).toMatchObject({ status: 503, body: { code: "server_busy" } });
  expect((await request("POST", "/threads", gzipSync("{}"), headers)).status).toBe(200);
});

it("finished and aborted bodies free the budget", async () => {
  const { url, request } = await smallServer();
  for (let turn = 0; turn < 5; turn++) {
    const body = { metadata: { a: "x".repeat(1.5 * MB) } };
    // The server may not have noticed yet that the previous client disconnected.
    await expect.poll(async () => (await request("POST", "/threads", body)).status).toBe(200);
    const { answer, leave } = begin(url, 1.5 * MB);
    await request("GET", "/ok");
    leave();
    await expect(answer).rejects.toThrow();
  }
});

it("bodies rejected while they are decompressed free the budget", async () => {
  const { request } = await smallServer();
  const text = JSON.stringify({ metadata: { a: "x".repeat(1.5 * MB) } });
  const send = () => request("POST", "/threads", gzipSync(text), { "content-encoding": "gzip" });
  const statuses: number[] = [];
  for (let turn = 0; turn < 20; turn++)
    statuses.push(...(await Promise.all(Array.from({ length: 10 }, send))).map(({ status }) => status));
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect((await send()).status).toBe(200);
});

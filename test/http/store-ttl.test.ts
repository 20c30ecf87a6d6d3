/** The TTL of store items: it is returned, and reads can skip renewing it. */
import { afterEach, expect, it, vi } from "vitest";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { startTestServer } from "../helpers/app.js";

const namespace = ["users", "ada"];

afterEach(() => vi.useRealTimers());

async function openWithItem() {
  const { request } = await startTestServer({ graphs: { chat } });
  await request("PUT", "/store/items", { namespace, key: "lives", value: { a: 1 }, ttl: 10 });
  await request("PUT", "/store/items", { namespace, key: "stays", value: {} });
  const get = (key: string, more = "") =>
    request("GET", `/store/items?namespace=users.ada&key=${key}${more}`);
  return { get, search: (body: object) => request("POST", "/store/items/search", body) };
}

/** Moves the clock forward by `minutes`. */
function later(minutes: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minutes * 60_000 });
}

it("an item returns its TTL in minutes", async () => {
  const { get, search } = await openWithItem();
  expect((await get("lives")).body).toMatchObject({ key: "lives", ttl_minutes: 10 });
  expect((await get("stays")).body).toMatchObject({ key: "stays", ttl_minutes: null });
  expect((await search({})).body).toMatchObject({ items: [{ ttl_minutes: 10 }, { ttl_minutes: null }] });
});

it.each([
  [{ refresh_ttl: false }, "&refresh_ttl=false", null],
  [{}, "&refresh_ttl=false", { key: "lives" }],
  [{ refresh_ttl: false }, "", { key: "lives" }],
])("a search with %j and a read with %j follow refresh_ttl", async (body, query, left) => {
  const { get, search } = await openWithItem();
  later(6);
  expect((await search(body)).body).toMatchObject({ items: [{ key: "lives" }, { key: "stays" }] });
  expect((await get("lives", query)).body).toMatchObject({ key: "lives" });
  later(6);
  const { body: item } = await get("lives", "&refresh_ttl=false");
  if (left) expect(item).toMatchObject(left);
  else expect(item).toBeNull();
});

it("with refresh_on_read false, reading does not renew an item unless the request asks for it", async () => {
  const settings = { ttl: { store: { minutes: 10, refresh_on_read: false } } };
  const { request } = await startTestServer({ graphs: { chat }, settings });
  for (const key of ["read", "renewed"]) await request("PUT", "/store/items", { namespace, key, value: {} });
  later(6);
  await request("GET", "/store/items?namespace=users.ada&key=read");
  await request("GET", "/store/items?namespace=users.ada&key=renewed&refresh_ttl=true");
  await request("POST", "/store/items/search", {});
  later(6);
  const left = await request("POST", "/store/items/search", {});
  expect(left.body).toMatchObject({ items: [{ key: "renewed" }] });
});

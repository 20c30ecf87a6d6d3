import {
  emptyCheckpoint,
  uuid6,
  type CheckpointMetadata,
  type CheckpointTuple,
} from "@langchain/langgraph-checkpoint";
import type { RunnableConfig } from "@langchain/core/runnables";
import { describe, expect, it } from "vitest";
import { GraphServeError, InvalidRequestError } from "../../../src/support/errors.js";
import { newId } from "../../../src/support/ids.js";
import type { Storage } from "../../../src/storage/contract/storage.js";

let clock = 0;
const LOOP: CheckpointMetadata = { source: "loop", step: 0, parents: {} };
const at = (thread_id: string, more: object = {}): RunnableConfig => ({
  configurable: { thread_id, ...more },
});

/** Databases return writes sorted by task and index; memory returns them in order of arrival. */
export function checkpointTests(
  storage: () => Storage,
  { inDatabase, keepsOtherChannels }: { inDatabase: boolean; keepsOtherChannels: boolean },
): void {
  const saver = () => storage().checkpointer;

  async function put(config: RunnableConfig, metadata: object = {}, values: Record<string, unknown> = {}) {
    const versions = Object.fromEntries(Object.keys(values).map((channel) => [channel, 1]));
    const checkpoint = {
      ...emptyCheckpoint(),
      id: uuid6(clock++),
      channel_values: values,
      channel_versions: versions,
    };
    return saver().put(config, checkpoint, { ...LOOP, ...metadata }, versions);
  }

  async function listed(config: RunnableConfig, options?: Parameters<ReturnType<typeof saver>["list"]>[1]) {
    const tuples: CheckpointTuple[] = [];
    for await (const tuple of saver().list(config, options)) tuples.push(tuple);
    return tuples.map((tuple) => tuple.checkpoint.id);
  }

  const idOf = (config: RunnableConfig) => config.configurable?.checkpoint_id as string;
  const metadataOf = async (config: RunnableConfig) => (await saver().getTuple(config))?.metadata;

  it("namespaces() returns the namespaces of the thread's checkpoints only", async () => {
    const [thread_id, other] = [newId(), newId()];
    await put(at(thread_id, { checkpoint_ns: "child:1|leaf:2" }));
    await put(at(thread_id));
    await put(at(thread_id, { checkpoint_ns: "child:1" }));
    await put(at(thread_id, { checkpoint_ns: "child:1" }));
    await put(at(other, { checkpoint_ns: "alien" }));
    expect(await saver().namespaces(thread_id)).toEqual(["", "child:1", "child:1|leaf:2"]);
    expect(await saver().namespaces(newId())).toEqual([]);
  });

  it.runIf(keepsOtherChannels)(
    "values of channels that a graph does not know are kept until they change",
    async () => {
      const thread_id = newId();
      let config = await put(at(thread_id), {}, { messages: ["hi"], trigger: 1, own: 0 });
      /** As a graph without the channel `messages`; `trigger` is a channel that it has cleared. */
      const next = async (values: object, versions: Record<string, number>, newVersions: string[]) => {
        const checkpoint = { ...emptyCheckpoint(), id: uuid6(clock++), channel_values: { ...values } };
        config = await saver().put(
          config,
          { ...checkpoint, channel_versions: versions },
          LOOP,
          Object.fromEntries(newVersions.map((channel) => [channel, versions[channel]!])),
        );
        return (await saver().getTuple(config))?.checkpoint.channel_values;
      };
      const versions = { messages: 1, trigger: 2, own: 2 };
      expect(await next({ own: 1 }, versions, ["trigger", "own"])).toEqual({ messages: ["hi"], own: 1 });
      expect(await next({ own: 1 }, versions, [])).toEqual({ messages: ["hi"], own: 1 });
      const third = { ...versions, own: 3 };
      expect(await next({ own: 2 }, third, ["own"])).toEqual({ messages: ["hi"], own: 2 });
      expect(await next({ own: 2 }, { ...third, messages: 4 }, ["messages"])).toEqual({ own: 2 });
      expect(await next({ own: 2 }, { ...third, messages: 4 }, [])).toEqual({ own: 2 });
    },
  );

  it("a value without a version is not kept", async () => {
    const config = at(newId());
    const defaults = { ...emptyCheckpoint(), id: uuid6(clock++), channel_values: { messages: [] } };
    const first = await saver().put(config, defaults, LOOP, {});
    await saver().put(first, { ...emptyCheckpoint(), id: uuid6(clock++), channel_values: {} }, LOOP, {});
    expect((await saver().getTuple(config))?.checkpoint.channel_values).toEqual({});
  });

  it.runIf(inDatabase)("pending writes are sorted by task and index", async () => {
    const config = await put(at(newId()));
    await saver().putWrites(
      config,
      [
        ["a", 1],
        ["b", 2],
        ["a", 3],
      ],
      "task-2",
    );
    await saver().putWrites(config, [["c", 4]], "task-1");
    await saver().putWrites(config, [["__interrupt__", [5]]], "task-2");
    await saver().putWrites(config, [["__error__", { message: "6" }]], "task-1");
    const order = [
      "task-1 __error__",
      "task-1 c",
      "task-2 __interrupt__",
      "task-2 a",
      "task-2 b",
      "task-2 a",
    ];
    const named = (tuple?: CheckpointTuple) =>
      tuple?.pendingWrites?.map(([task, channel]) => `${task} ${channel}`);
    expect(named(await saver().getTuple(config))).toEqual(order);
    for await (const tuple of saver().list(config)) expect(named(tuple)).toEqual(order);
  });

  it("a retried task does not overwrite ordinary writes, but replaces special ones", async () => {
    const config = await put(at(newId()));
    const write = (...writes: [channel: string, value: unknown][]) =>
      saver().putWrites(config, writes, "task");
    await write(["a", 1], ["b", 2]);
    await write(["a", 3], ["c", 4]);
    await write(["__interrupt__", 5]);
    await write(["__interrupt__", 6]);
    const stored = (await saver().getTuple(config))?.pendingWrites?.map(([, ...stored]) => stored);
    expect(stored).toHaveLength(3);
    expect(stored).toEqual(
      expect.arrayContaining([
        ["a", 1],
        ["b", 2],
        ["__interrupt__", 6],
      ]),
    );
  });

  it("writes to channels named after object methods are stored", async () => {
    const config = await put(at(newId()));
    await saver().putWrites(
      config,
      [
        ["toString", 1],
        ["constructor", 2],
        ["a", 3],
      ],
      "task",
    );
    const stored = (await saver().getTuple(config))?.pendingWrites?.map(([, ...stored]) => stored);
    expect(stored).toEqual([
      ["toString", 1],
      ["constructor", 2],
      ["a", 3],
    ]);
  });

  describe("stamps", () => {
    it("checkpoints record their run and configuration", async () => {
      const thread_id = newId();
      const config = at(thread_id, {
        run_id: "r1",
        graph_id: "agent",
        retries: 3,
        dry: true,
        checkpoint_map: { "": "x" },
      });
      expect(await metadataOf(await put(config))).toEqual({
        ...LOOP,
        thread_id,
        run_id: "r1",
        graph_id: "agent",
        retries: 3,
        dry: true,
      });
    });

    it("the run id can come from the metadata", async () => {
      const config = { ...at(newId()), metadata: { run_id: "r2", other: 1, langgraph_node: "a", ls_x: "b" } };
      expect(await metadataOf(await put(config))).toMatchObject({ run_id: "r2" });
      expect(await metadataOf(await put(config))).toHaveProperty("other", 1);
    });

    it("private and secret keys are not stored", async () => {
      const secrets = { apiKey: "s", ACCESS_TOKEN: "s", my_secret: "s", Password: "s", authHeader: "s" };
      const config = at(newId(), { ...secrets, __private: "s", model: { key: "s" }, call: () => "s" });
      expect(Object.keys((await metadataOf(await put(config))) ?? {}).sort()).toEqual([
        "parents",
        "source",
        "step",
        "thread_id",
      ]);
    });

    it("LangGraph's own metadata fields take precedence over stamps", async () => {
      const config = at(newId(), { source: "mine", step: 99, parents: "mine", writes: "mine" });
      expect(await metadataOf(await put(config, { source: "input", step: 4 }))).toMatchObject({
        source: "input",
        step: 4,
      });
      expect(await metadataOf(await put(config))).not.toHaveProperty("writes");
    });

    it("the run id of an earlier run is dropped from the metadata", async () => {
      const thread_id = newId();
      expect(await metadataOf(await put(at(thread_id), { run_id: "before" }))).not.toHaveProperty("run_id");
      const config = at(thread_id, { run_id: "now" });
      expect(await metadataOf(await put(config, { run_id: "before" }))).toHaveProperty("run_id", "now");
    });

    it("hostile configurable keys do not pollute the prototype", async () => {
      const configurable = JSON.parse(
        `{"thread_id":"${newId()}","__proto__":"x","constructor":"y"}`,
      ) as object;
      const metadata = await metadataOf(await put({ configurable: { ...configurable, checkpoint_ns: "" } }));
      expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype);
      expect(metadata).toHaveProperty("constructor", "y");
    });
  });

  describe("fencing", () => {
    it("a fenced run cannot write", async () => {
      const config = await put(at(newId(), { run_id: "r" }));
      const late = { ...config, configurable: { ...config.configurable, run_id: "r" } };
      saver().fence("r");
      await expect(put(late)).rejects.toBeInstanceOf(GraphServeError);
      await expect(saver().putWrites(late, [["a", 1]], "task")).rejects.toBeInstanceOf(GraphServeError);
      await expect(put({ ...config, metadata: { run_id: "r" } })).rejects.toBeInstanceOf(GraphServeError);
      expect((await saver().getTuple(config))?.pendingWrites).toEqual([]);
      await put({ ...config, metadata: { run_id: "other" } });
      saver().unfence("r");
      await saver().putWrites(late, [["a", 1]], "task");
      expect((await saver().getTuple(config))?.pendingWrites).toEqual([["task", "a", 1]]);
    });
  });

  describe("listing", () => {
    it("listing requires a thread", async () => {
      await put(at(newId()));
      await expect(listed({ configurable: {} })).rejects.toBeInstanceOf(InvalidRequestError);
      await expect(listed({})).rejects.toBeInstanceOf(InvalidRequestError);
    });

    it("checkpoints of a namespace are listed newest first", async () => {
      const thread_id = newId();
      const [a, b] = [await put(at(thread_id)), await put(at(thread_id))];
      const inner = await put(at(thread_id, { checkpoint_ns: "child:1" }));
      expect(await listed(at(thread_id))).toEqual([idOf(b), idOf(a)]);
      expect(await listed(at(thread_id, { checkpoint_ns: "child:1" }))).toEqual([idOf(inner)]);
      expect(await listed(at(thread_id, { checkpoint_id: idOf(a) }))).toEqual([idOf(a)]);
      expect(await listed(at(newId()))).toEqual([]);
    });

    it("limit and before return exact pages", async () => {
      const thread_id = newId();
      const ids = [];
      for (let step = 0; step < 105; step += 1) ids.unshift(idOf(await put(at(thread_id))));
      expect(await listed(at(thread_id))).toEqual(ids);
      expect(await listed(at(thread_id), { limit: 0 })).toEqual([]);
      expect(await listed(at(thread_id), { limit: 2 })).toEqual(ids.slice(0, 2));
      expect(await listed(at(thread_id), { limit: 101 })).toEqual(ids.slice(0, 101));
      expect(
        await listed(at(thread_id), { before: at(thread_id, { checkpoint_id: ids[2] }), limit: 2 }),
      ).toEqual(ids.slice(3, 5));
    });

    it("filters match by containment", async () => {
      const thread_id = newId();
      const a = await put(at(thread_id, { run_id: "r1" }), {
        parents: { x: "1", y: "2" },
        tags: ["p", "q"],
        step: 1,
      });
      const b = await put(at(thread_id, { run_id: "r2" }), { parents: { x: "2" }, step: 2 });
      const ids = (filter: object, limit?: number) => listed(at(thread_id), { filter: { ...filter }, limit });
      expect(await ids({ run_id: "r1" })).toEqual([idOf(a)]);
      expect(await ids({ parents: { x: "1" } })).toEqual([idOf(a)]);
      expect(await ids({ tags: ["q"] })).toEqual([idOf(a)]);
      expect(await ids({ parents: {} }, 1)).toEqual([idOf(b)]);
      expect(await ids({ parents: {}, step: 1 })).toEqual([idOf(a)]);
      expect(await ids({ step: 2 }, 1)).toEqual([idOf(b)]);
      expect(await ids({ step: 2, run_id: "r1" })).toEqual([]);
      expect(await ids({ step: "2" })).toEqual([]);
      expect(await ids({ step: -1 })).toEqual([]);
      expect(await ids({ parents: { x: "1" }, run_id: "r2" })).toEqual([]);
      expect(await ids({ source: undefined })).toEqual([idOf(b), idOf(a)]);
    });

    it.each(["a.b", '"', "'", "", "$ne", "__proto__", "constructor", "x]", "a b"])(
      "filter key %j is treated as data",
      async (key) => {
        const thread_id = newId();
        const hostile = (value: unknown) => Object.fromEntries([[key, value]]);
        const config = await put(at(thread_id));
        expect(await listed(at(thread_id), { filter: hostile("v") })).toEqual([]);
        expect(await listed(at(thread_id), { filter: hostile({ $ne: null }) })).toEqual([]);
        expect(await listed(at(thread_id), { filter: {} })).toEqual([idOf(config)]);
      },
    );

    it.each(["__proto__", "constructor", "no-such-id", "'"])("checkpoint %j does not exist", async (odd) => {
      const thread_id = newId();
      await put(at(thread_id));
      expect(await saver().getTuple(at(thread_id, { checkpoint_id: odd }))).toBeUndefined();
      expect(await saver().getTuple(at(thread_id, { checkpoint_ns: odd }))).toBeUndefined();
      expect(await listed(at(thread_id, { checkpoint_ns: odd }))).toEqual([]);
      await listed(at(thread_id), { before: at(thread_id, { checkpoint_id: odd }) });
    });
  });

  describe("writes", () => {
    it("bytes are read back unchanged", async () => {
      const bytes = new Uint8Array([0, 1, 200, 255, 34, 92]);
      const config = await put(at(newId()), {}, { nested: { bytes } });
      await saver().putWrites(
        config,
        [
          ["blob", bytes],
          ["text", "x"],
          ["nested", { bytes }],
        ],
        "task",
      );
      const tuple = await saver().getTuple(config);
      expect(tuple?.pendingWrites).toEqual([
        ["task", "blob", bytes],
        ["task", "text", "x"],
        ["task", "nested", { bytes }],
      ]);
      expect(tuple?.checkpoint.channel_values).toEqual({ nested: { bytes } });
    });

    it("writes default to the root namespace", async () => {
      const config = await put(at(newId()));
      const { thread_id, checkpoint_id } = config.configurable as Record<string, string>;
      await saver().putWrites({ configurable: { thread_id, checkpoint_id } }, [["a", 1]], "task");
      expect((await saver().getTuple(config))?.pendingWrites).toEqual([["task", "a", 1]]);
    });

    it("deleting a thread removes all its checkpoints and writes", async () => {
      const [thread_id, other] = [newId(), newId()];
      const config = await put(at(thread_id));
      await saver().putWrites(config, [["a", 1]], "task");
      await put(at(thread_id, { checkpoint_ns: "child" }));
      const kept = await put(at(other));
      await saver().deleteThread(thread_id);
      await saver().deleteThread(thread_id);
      expect(await listed(at(thread_id))).toEqual([]);
      expect(await listed(at(thread_id, { checkpoint_ns: "child" }))).toEqual([]);
      expect(await listed(at(other))).toEqual([idOf(kept)]);
      // Storing the same checkpoint again does not restore its old writes.
      await saver().put(at(thread_id), { ...emptyCheckpoint(), id: idOf(config) }, LOOP, {});
      expect((await saver().getTuple(at(thread_id)))?.pendingWrites).toEqual([]);
    });

    it("getNextVersion works without a receiver", () => {
      const next = saver().getNextVersion.bind(undefined as never);
      const [first, second] = [next(undefined), next(next(undefined))];
      expect([Math.floor(first), Math.floor(second)]).toEqual([1, 2]);
      expect(next(second)).toBeGreaterThan(second);
    });
  });
}

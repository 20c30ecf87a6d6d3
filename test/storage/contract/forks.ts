import { Command, INTERRUPT } from "@langchain/langgraph";
import type { RunnableConfig } from "@langchain/core/runnables";
import { type CheckpointMetadata, uuid6 } from "@langchain/langgraph-checkpoint";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { newId } from "../../../src/support/ids.js";
import type { Storage } from "../../../src/storage/contract/storage.js";
import { askingGraph, deltaGraph, joiningGraph, nestedGraph, parallelGraph } from "./graphs.js";

const at = (thread_id: string, run_id?: string) => ({
  configurable: { thread_id, ...(run_id && { run_id }) },
});

export function forkTests(storage: () => Storage): void {
  const saver = () => storage().checkpointer;

  async function historyOf(thread_id: string, checkpoint_ns = "") {
    const tuples = [];
    for await (const tuple of saver().list({ configurable: { thread_id, checkpoint_ns } }))
      tuples.push(tuple);
    return tuples;
  }

  /**
   * Stores a checkpoint after the latest one, as another process would, at the last read of `call`: after it has read
   * everything, before it deletes anything. `twin` is a thread with the same content.
   */
  async function writtenDuring(
    call: (thread_id: string) => Promise<void>,
    thread_id: string,
    twin: string,
  ): Promise<string> {
    const [latest] = await historyOf(thread_id);
    const { checkpoint, config, metadata } = latest!;
    const { serde } = saver();
    const loadsTyped = serde.loadsTyped.bind(serde);
    const read = vi.spyOn(serde, "loadsTyped");
    onTestFinished(() => read.mockRestore());
    await call(twin);
    let left = read.mock.calls.length;
    const id = uuid6(1000);
    read.mockImplementation(async (...value) => {
      left -= 1;
      if (left !== 0) return loadsTyped(...value) as unknown;
      const log = saver().getNextVersion(checkpoint.channel_versions.log as number | undefined);
      const next = {
        ...checkpoint,
        id,
        channel_values: { ...checkpoint.channel_values, log: ["elsewhere"] },
        channel_versions: { ...checkpoint.channel_versions, log },
      };
      const own = { ...metadata!, run_id: "r2", step: 1000 } as CheckpointMetadata;
      const stored = await saver().put(config, next, own, { log });
      await saver().putWrites(stored, [["log", ["pending"]]], "task");
      return loadsTyped(...value) as unknown;
    });
    await call(thread_id);
    read.mockRestore();
    return id;
  }

  async function expectKept(thread_id: string, id: string): Promise<void> {
    const tuple = await saver().getTuple(at(thread_id));
    expect(tuple?.checkpoint).toMatchObject({ id, channel_values: { log: ["elsewhere"] } });
    expect(tuple?.pendingWrites).toEqual([["task", "log", ["pending"]]]);
  }

  describe("copies", () => {
    it("a copy is a single checkpoint marked as a fork", async () => {
      const [source, target] = [newId(), newId()];
      await askingGraph(saver()).invoke({ log: ["in"] }, at(source, "r1"));
      await saver().copyLatest(source, target, [""]);
      const [copy, ...older] = await historyOf(target);
      const [original] = await historyOf(source);
      expect(older).toEqual([]);
      expect(copy?.checkpoint).toEqual(original?.checkpoint);
      expect(copy?.parentConfig).toBeUndefined();
      expect(copy?.metadata).toMatchObject({
        source: "fork",
        thread_id: target,
        step: original?.metadata?.step,
      });
      expect(copy?.metadata).not.toHaveProperty("run_id");
    });

    it("an interrupted copy can be resumed", async () => {
      const graph = askingGraph(saver());
      const [source, target, second] = [newId(), newId(), newId()];
      await graph.invoke({ log: ["in"] }, at(source, "r1"));
      await saver().copyLatest(source, target, [""]);
      await saver().copyLatest(target, second, [""]);
      const before = await historyOf(source);
      for (const thread of [target, second]) {
        const state = await graph.getState(at(thread));
        expect(state.next).toEqual(["ask"]);
        expect(state.tasks[0]?.interrupts[0]?.value).toBe("really?");
        const { log } = await graph.invoke(new Command({ resume: thread }), at(thread, "r2"));
        expect(log).toEqual(["in", "planned", `answer ${thread}`, "done"]);
      }
      expect(await historyOf(source)).toEqual(before);
      expect((await graph.getState(at(source))).next).toEqual(["ask"]);
    });

    it("a copy of an earlier checkpoint repeats its interrupt", async () => {
      const graph = askingGraph(saver());
      const [source, target] = [newId(), newId()];
      await graph.invoke({ log: ["in"] }, at(source, "r1"));
      const asked = (await graph.getState(at(source))).config.configurable?.checkpoint_id as string;
      await graph.invoke(new Command({ resume: "first" }), at(source, "r2"));
      await saver().copyLatest(source, target, [""], asked);
      const state = await graph.getState(at(target));
      expect([state.next, state.tasks[0]?.interrupts[0]?.value]).toEqual([["ask"], "really?"]);
      const { log } = await graph.invoke(new Command({ resume: "second" }), at(target, "r3"));
      expect(log).toEqual(["in", "planned", "answer second", "done"]);
      expect((await graph.getState(at(source))).values).toMatchObject({
        log: ["in", "planned", "answer first", "done"],
      });
    });

    it("an edit keeps the results of tasks that finished beside an interrupted one", async () => {
      const graph = parallelGraph(saver());
      const thread = at(newId());
      await graph.invoke({ n: 1, log: ["in"] }, thread);
      const edited = await graph.updateState(thread, { n: 2 }, "__start__");
      expect((await graph.getState(thread)).values).toEqual({ n: 2, log: ["in", "noted"] });
      await graph.updateState(thread, { log: ["edited"] }, "__start__");
      expect((await graph.getState(thread)).values).toEqual({ n: 2, log: ["in", "noted", "edited"] });
      // The checkpoints before the second edit keep their own values.
      expect((await graph.getState(edited)).values).toEqual({ n: 2, log: ["in", "noted"] });
      const asked = (await historyOf(thread.configurable.thread_id)).find(
        ({ metadata }) => metadata?.source === "loop",
      );
      expect(asked?.checkpoint.channel_values).toMatchObject({ n: 1, log: ["in"] });
    });

    it.each([false, true])("a node waits for what finished before an edit, deferred: %s", async (defer) => {
      const graph = joiningGraph(saver(), defer);
      const thread = at(newId());
      await graph.invoke({ log: ["in"] }, thread);
      // Newer releases of LangGraph drop the waiting task, unless the edit leads to its node.
      await graph.updateState(thread, { log: ["edited"] }, "again");
      const { log } = await graph.invoke(new Command({ resume: "yes" }), thread);
      expect(log).toEqual(["in", "noted", "edited", "answer yes", "done"]);
    });

    it("an edit that names no node is refused after several nodes", async () => {
      const graph = parallelGraph(saver());
      const thread = at(newId());
      await graph.invoke({ n: 1, log: ["in"] }, thread);
      await graph.invoke(new Command({ resume: "yes" }), { ...thread, interruptBefore: ["done"] });
      await expect(graph.updateState(thread, { log: ["edited"] })).rejects.toThrow(/ambiguous/i);
    });

    it("a fork beside a checkpoint has its values and next node", async () => {
      const graph = askingGraph(saver());
      const thread = newId();
      await graph.invoke({ log: ["in"] }, at(thread, "r1"));
      const asked = await graph.getState(at(thread));
      await graph.updateState(at(thread), null, "__copy__");
      const fork = await graph.getState(at(thread));
      expect(fork).toMatchObject({ next: ["ask"], parentConfig: asked.parentConfig });
      expect(fork.values).toEqual(asked.values);
      expect(fork.config).not.toEqual(asked.config);
      const { log } = await graph.invoke(new Command({ resume: "yes" }), at(thread, "r2"));
      expect(log).toEqual(["in", "planned", "answer yes", "done"]);
    });

    it("an interrupt inside a subgraph is copied", async () => {
      const graph = nestedGraph(saver());
      const [source, target] = [newId(), newId()];
      await graph.invoke({ log: ["in"] }, at(source));
      const { tasks } = await graph.getState(at(source), { subgraphs: true });
      const inner = (tasks[0]?.state as { config: { configurable: { checkpoint_ns: string } } }).config
        .configurable;
      await saver().copyLatest(source, target, ["", inner.checkpoint_ns, "no such namespace"]);
      const { log } = await graph.invoke(new Command({ resume: "yes" }), at(target));
      expect(log.at(-1)).toBe("answer yes");
    });

    it("a copy of an earlier checkpoint repeats the interrupt of a subgraph", async () => {
      const graph = nestedGraph(saver());
      const [source, target] = [newId(), newId()];
      await graph.invoke({ log: ["in"] }, at(source));
      const { config, tasks } = await graph.getState(at(source), { subgraphs: true });
      const asked = config.configurable?.checkpoint_id as string;
      const { checkpoint_ns } = (tasks[0]?.state as { config: { configurable: { checkpoint_ns: string } } })
        .config.configurable;
      await graph.invoke(new Command({ resume: "first" }), at(source));
      await saver().copyLatest(source, target, ["", checkpoint_ns, "no such namespace"], asked);
      const { log } = await graph.invoke(new Command({ resume: "second" }), at(target));
      expect(log.at(-1)).toBe("answer second");
    });

    it("a named checkpoint is copied without later writes, even if it is the latest", async () => {
      const graph = askingGraph(saver());
      const [source, target] = [newId(), newId()];
      await graph.invoke({ log: ["in"] }, at(source, "r1"));
      const { config } = await graph.getState(at(source));
      await saver().putWrites(config, [["log", ["half"]]], "task");
      await saver().copyLatest(source, target, [""], config.configurable?.checkpoint_id as string);
      const [copy] = await historyOf(target);
      expect(copy?.pendingWrites?.map(([, channel]) => channel)).toEqual([INTERRUPT]);
    });

    it("a copy keeps delta channels complete", async () => {
      const graph = deltaGraph(saver());
      const [source, target] = [newId(), newId()];
      for (let run = 0; run < 3; run += 1) await graph.invoke({ log: [`in ${run}`] }, at(source));
      await graph.updateState(at(source), { log: ["edit"] }, "two");
      const { log } = (await graph.getState(at(source))).values as { log: string[] };
      expect(log.slice(-3)).toEqual(["one", "two", "edit"]);
      await saver().copyLatest(source, target, [""]);
      expect((await graph.getState(at(target))).values).toEqual({ log });
      expect((await historyOf(target)).length).toBeLessThan((await historyOf(source)).length);
      await saver().keepLatest(source, [""]);
      expect((await graph.getState(at(source))).values).toEqual({ log });
    });

    it("an empty thread is copied without checkpoints", async () => {
      const target = newId();
      await saver().copyLatest(newId(), target, [""]);
      expect(await historyOf(target)).toEqual([]);
    });
  });

  describe("branches", () => {
    it("each branch keeps its own values", async () => {
      const graph = askingGraph(saver());
      const thread = newId();
      await graph.invoke({ log: ["in"] }, at(thread, "r1"));
      const asked = (await graph.getState(at(thread))).config;
      const logOf = async (config: RunnableConfig) =>
        ((await graph.getState(config)).values as { log: string[] }).log;
      const branches: { config: RunnableConfig; log: string[] }[] = [];
      for (const name of ["one", "two", "three"]) {
        const log = ["in", "planned", `edit ${name}`];
        const edited = await graph.updateState(asked, { log: log.slice(2) }, "plan");
        branches.push({ config: edited, log });
        await graph.invoke(new Command({ resume: name }), edited);
        const { config } = await graph.getState(at(thread));
        branches.push({ config, log: [...log, `answer ${name}`, "done"] });
      }
      for (const { config, log } of branches) expect(await logOf(config)).toEqual(log);
      await saver().keepLatest(thread, [""]);
      expect(await logOf(at(thread))).toEqual(branches.at(-1)?.log);
    });
  });

  describe("deleteRun", () => {
    it("the same run id on another thread is not affected", async () => {
      const graph = askingGraph(saver());
      const [thread, other] = [newId(), newId()];
      for (const id of [thread, other]) await graph.invoke({ log: ["in"] }, at(id, "r1"));
      const before = await historyOf(other);
      await saver().deleteRun(thread, "r1");
      expect(await historyOf(thread)).toEqual([]);
      expect(await historyOf(other)).toEqual(before);
    });

    it("a checkpoint that is written meanwhile stays", async () => {
      const [thread, twin] = [newId(), newId()];
      for (const id of [thread, twin]) await askingGraph(saver()).invoke({ log: ["in"] }, at(id, "r1"));
      const id = await writtenDuring((each) => saver().deleteRun(each, "r1"), thread, twin);
      await expectKept(thread, id);
      expect(await historyOf(thread)).toHaveLength(1);
    });

    it("the thread is restored to its state before the run", async () => {
      const graph = nestedGraph(saver());
      const thread = newId();
      await graph.invoke({ log: ["in"] }, at(thread, "r1"));
      const before = await historyOf(thread);
      await graph.invoke(new Command({ resume: "yes" }), at(thread, "r2"));
      expect((await historyOf(thread)).length).toBeGreaterThan(before.length);
      await saver().deleteRun(thread, "r2");
      expect((await historyOf(thread)).map(({ checkpoint }) => checkpoint.id)).toEqual(
        before.map(({ checkpoint }) => checkpoint.id),
      );
    });
  });

  describe("pruning", () => {
    it("only the latest checkpoint is kept and can be resumed", async () => {
      const graph = askingGraph(saver());
      const thread = newId();
      const other = newId();
      await graph.invoke({ log: ["in"] }, at(thread, "r1"));
      await graph.invoke({ log: ["in"] }, at(other, "r1"));
      const [latest] = await historyOf(thread);
      const untouched = await historyOf(other);
      await saver().keepLatest(thread, [""]);
      const [kept, ...older] = await historyOf(thread);
      expect(older).toEqual([]);
      expect(kept).toEqual({ ...latest, parentConfig: undefined });
      expect(await historyOf(other)).toEqual(untouched);
      expect((await graph.invoke(new Command({ resume: "yes" }), at(thread))).log.at(-1)).toBe("done");
    });

    it("namespaces that are not listed are removed", async () => {
      const graph = nestedGraph(saver());
      const thread = newId();
      await graph.invoke({ log: ["in"] }, at(thread));
      const { tasks } = await graph.getState(at(thread), { subgraphs: true });
      const inner = (tasks[0]?.state as { config: { configurable: { checkpoint_ns: string } } }).config
        .configurable;
      expect(await historyOf(thread, inner.checkpoint_ns)).not.toEqual([]);
      await saver().keepLatest(thread, [""]);
      expect(await historyOf(thread, inner.checkpoint_ns)).toEqual([]);
      expect(await historyOf(thread)).toHaveLength(1);
    });

    it("a checkpoint that is written meanwhile stays", async () => {
      const [thread, twin] = [newId(), newId()];
      for (const id of [thread, twin]) await askingGraph(saver()).invoke({ log: ["in"] }, at(id));
      const [latest] = await historyOf(thread);
      const id = await writtenDuring((each) => saver().keepLatest(each, [""]), thread, twin);
      await expectKept(thread, id);
      expect((await historyOf(thread)).map(({ checkpoint }) => checkpoint.id)).toEqual([
        id,
        latest?.checkpoint.id,
      ]);
    });

    it("pruning an empty thread changes nothing", async () => {
      const thread = newId();
      await saver().keepLatest(thread, [""]);
      expect(await historyOf(thread)).toEqual([]);
    });
  });
}

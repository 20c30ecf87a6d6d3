/** An exception before a run has begun releases the lease of its thread. */
import { expect, it } from "vitest";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { onEveryBackend, openBackend } from "../helpers/backends.js";
import { openTestService } from "../helpers/service.js";

/** Deep enough that a recursive walk of the config overflows the stack. */
function deepConfig(): Record<string, unknown> {
  let a: unknown = [];
  for (let level = 0; level < 100_000; level++) a = [a];
  return { configurable: { a } };
}

const say = (text: string) => ({ assistant_id: "chat", input: { messages: [text] } });

onEveryBackend("an exception while a run is accepted", (backend) => {
  it("releases the lease of the thread", async () => {
    const service = await openTestService({ graphs: { chat }, storage: await openBackend(backend()) });
    const { thread_id } = await service.threads.create({});
    const broken = { ...say("one"), config: deepConfig() };
    await expect(service.runs.wait(thread_id, broken)).rejects.toThrow();
    await expect(service.runs.stream(thread_id, broken)).rejects.toThrow();
    await expect(service.runs.create(thread_id, broken)).rejects.toThrow();
    expect(await (await service.runs.wait(thread_id, say("two"))).answer).toHaveProperty("messages");
    await service.state.update(thread_id, { values: { messages: ["three"] } });
    expect((await service.threads.get(thread_id)).status).toBe("idle");
    await service.threads.delete(thread_id);
  });
});

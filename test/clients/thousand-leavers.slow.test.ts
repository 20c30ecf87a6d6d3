/** A thousand clients that join and leave a run without new frames use no memory afterwards. */
import { once } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { createApp } from "../../src/http/app.js";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { bytesInUse } from "../helpers/heap.js";
import { openTestService } from "../helpers/service.js";

describe("a thousand clients that join and leave", () => {
  const MORE = 1000;

  it.each(["stream", "join"])("over /%s leave no memory in use", { timeout: 120_000 }, async (path) => {
    const service = await openTestService({ graphs: { gate } });
    const server = createServer(createApp(service)).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { thread_id } = await service.threads.create({});
    const name = newId();
    const run = service.runs.background(thread_id, { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    const { run_id } = await run;
    const url = `http://127.0.0.1:${port}/threads/${thread_id}/runs/${run_id}/${path}`;
    const connections = promisify(server.getConnections.bind(server));
    const joinAndLeave = async () => {
      const request = get(url, { agent: false });
      await once(request, "response");
      request.destroy();
      await once(request, "close");
    };
    const all = async (count: number) => {
      for (let done = 0; done < count; done += 50)
        await Promise.all(Array.from({ length: 50 }, joinAndLeave));
      // The server has noticed all disconnects when no connection is open.
      await expect.poll(() => connections(), { timeout: 20_000 }).toBe(0);
    };
    await all(300);
    const before = await bytesInUse();
    await all(MORE);
    expect((await bytesInUse()) - before).toBeLessThan(MORE * 2500);
  });
});

/** The pgbouncer configuration of docs/deployment.md in transaction mode, with the matching server settings. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { markedBlocks } from "../helpers/markdown.js";
import { withPostgres } from "../helpers/postgres.js";
import { freePort } from "../helpers/free-port.js";
import { asOther, giveTo, startListening, stopProgram, withProgram } from "../helpers/programs.js";
import { openTestService, readAll } from "../helpers/service.js";

const block = (name: string): string =>
  markedBlocks("docs/deployment.md").find((one) => one.name === name)?.text ?? "";

withProgram("pgbouncer", "behind pgbouncer in transaction mode", (program) => {
  withPostgres("on postgres", (postgres) => {
    const direct = new URL(postgres.uri);
    let pooled: string;

    beforeAll(async () => {
      const port = await freePort();
      const folder = mkdtempSync(join(tmpdir(), "graph-serve-pgbouncer-"));
      const place = `host=${direct.hostname} port=${direct.port || 5432} dbname=${direct.pathname.slice(1)}`;
      const text = block("pgbouncer.ini")
        .replace("host=127.0.0.1 port=5432 dbname=app", place)
        .replace("listen_port = 6432", `listen_port = ${port}`)
        .replace("auth_type = scram-sha-256", "auth_type = trust")
        .replace("/etc/pgbouncer/userlist.txt", join(folder, "userlist.txt"));
      writeFileSync(join(folder, "pgbouncer.ini"), `${text}unix_socket_dir =\n`);
      const password = decodeURIComponent(direct.password);
      writeFileSync(join(folder, "userlist.txt"), `"${direct.username || "postgres"}" "${password}"\n`);
      giveTo("postgres", folder);
      const command = asOther("postgres", [program, join(folder, "pgbouncer.ini")]);
      const pgbouncer = await startListening(command, port);
      pooled = `postgresql://${direct.username}${password && `:${direct.password}`}@127.0.0.1:${port}/app`;
      return async () => {
        await stopProgram(pgbouncer);
        rmSync(folder, { recursive: true, force: true });
      };
    });
    afterAll(() => postgres.close());

    /** Settings from the document, on this test's server and schema. */
    function settings(more: object = {}): Partial<Settings> {
      const { graphs: _, ...documented } = JSON.parse(block("graph-server.config.json")) as Settings;
      expect(Object.keys(documented.checkpointer_options)).toEqual(["prepare", "lock_uri"]);
      const options = {
        ...documented.checkpointer_options,
        lock_uri: direct.href,
        schema: postgres.schema,
        ...more,
      };
      return { ...documented, checkpointer_uri: pooled, checkpointer_options: options };
    }
    const open = (more?: object) =>
      openTestService({ graphs: { chat, gate, hitl }, settings: settings(more) });

    it("runs, streams, interrupts and searches work", async () => {
      const { threads, runs, state, store } = await open({ pool_max_size: 3 });
      const input = { messages: [{ role: "user", content: "hello" }] };
      const ids = await Promise.all(
        Array.from({ length: 20 }, async (_, n) => {
          const { thread_id } = await threads.create({ metadata: { n, of: "pgbouncer" } });
          const run = await runs.create(thread_id, { assistant_id: "chat", input });
          expect(run.status).toBe("success");
          return thread_id;
        }),
      );
      const stream = await runs.stream(ids[0]!, { assistant_id: "chat", input, stream_mode: "updates" });
      expect((await readAll(stream)).at(-1)?.event).toBe("end");
      const { thread_id } = await threads.create({});
      const asked = await runs.create(thread_id, { assistant_id: "hitl", input: { topic: "cats" } });
      expect(asked.status).toBe("interrupted");
      await runs.create(thread_id, { assistant_id: "hitl", command: { resume: "yes" } });
      expect((await state.get(thread_id)).values).toMatchObject({ answer: "yes" });
      expect((await threads.search({ metadata: { of: "pgbouncer" }, limit: 5 })).total).toBe(20);
      await store.put({ namespace: ["a"], key: "k", value: { n: 1 } });
      expect((await store.get(["a"], "k"))?.value).toEqual({ n: 1 });
      await threads.delete(thread_id);
    });

    it("thread locks hold across servers", async () => {
      const [one, two] = [await open(), await open()];
      const { thread_id } = await one.threads.create({});
      const name = newId();
      const running = one.runs.create(thread_id, { assistant_id: "gate", input: { gate: name } });
      await gateOf(name).entered;
      const rejected = two.runs.create(thread_id, {
        assistant_id: "chat",
        input: {},
        multitask_strategy: "reject",
      });
      await expect(rejected).rejects.toMatchObject({ code: "thread_busy" });
      const queued = two.runs.create(thread_id, { assistant_id: "gate", input: { gate: name } });
      gateOf(name).open();
      expect([(await running).status, (await queued).status]).toEqual(["success", "success"]);
    });

    it("the storage does not open with prepare: true", async () => {
      await expect(open({ prepare: true })).rejects.toMatchObject({ code: "storage_unavailable" });
    });
  });
});

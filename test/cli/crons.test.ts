/** `crons` and `webhooks`: directly on the storage, without settings or graphs, and through a server. */
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import type { Cron } from "../../src/models/cron.js";
import type { Webhook } from "../../src/models/webhook.js";
import { newId } from "../../src/support/ids.js";
import { graphs, says } from "../clients/open.js";
import { serve } from "../helpers/app.js";
import { openTestService } from "../helpers/service.js";
import { startReceiver, webhooks } from "../helpers/webhook-receiver.js";
import { cli, createProject, startCli } from "./harness.js";

const NOBODY = "0198c0de-0000-7000-8000-000000000000";

/** A server on a SQLite file in a folder without a configuration, with a cron and a failed webhook. */
async function open() {
  const project = await createProject();
  onTestFinished(() => project.remove());
  const db = join(project.dir, "threads.db");
  const service = await openTestService({
    graphs,
    settings: { crons: true, webhooks, checkpointer_scheme: "sqlite", checkpointer_uri: db },
  });
  const server = await serve(service);
  const request = { assistant_id: "chat", schedule: "0 0 1 1 *", input: says("hello") };
  const { cron_id } = await service.crons.create(request);
  const receiver = await startReceiver();
  receiver.answers.push(410);
  const { run_id } = await service.runs.createStateless({
    assistant_id: "chat",
    input: says("hello"),
    webhook: receiver.url,
  });
  await expect
    .poll(async () => (await service.webhooks.list({})).items)
    .toMatchObject([{ run_id, status: "failed" }]);
  const places = { db: ["--db", db], url: ["--url", server.url] };
  return { project, service, places, cron_id, run_id, receiver };
}

it("without an id, a cron and a webhook are chosen on a terminal", async () => {
  const { project, service, places, cron_id, run_id } = await open();
  const choose = async (question: RegExp, ...argv: string[]) => {
    const options = { cwd: project.dir, isTTY: true, env: { NO_COLOR: "1" } };
    const picking = startCli([...argv, ...places.url], options);
    await picking.stderr.until(question);
    picking.stdin.push("1\n");
    expect(await picking.exit).toBe(0);
    return picking.stderr.text;
  };
  const shown = await choose(/cron \[1-1, default 1\]: /, "crons", "pause");
  expect(shown).toContain(`1  ${cron_id.slice(0, 13)}  0 0 1 1 *  chat`);
  expect((await service.crons.search({})).items).toMatchObject([{ cron_id, enabled: false }]);
  expect(await choose(/webhook \[1-1, default 1\]: /, "webhooks", "delete")).toContain(
    `deleted webhook ${run_id}`,
  );
  expect((await service.webhooks.list({})).items).toEqual([]);
});

describe.each(["db", "url"] as const)("crons and webhooks with --%s", (place) => {
  it("crons are listed, shown, paused, resumed and deleted", async () => {
    const { project, service, places, cron_id } = await open();
    const crons = async (...argv: string[]) => {
      const options = { cwd: project.dir };
      const { code, stdout, stderr } = await cli(["crons", ...argv, ...places[place], "--json"], options);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return JSON.parse(stdout) as unknown;
    };
    const [cron] = (await service.crons.search({})).items as Cron[];
    expect(await crons("list")).toEqual({ items: [cron], next: null });
    expect(await crons("show", cron_id.slice(0, 13))).toEqual(cron);
    expect(await crons("pause", cron_id)).toMatchObject({ enabled: false, next_run_date: null });
    expect(await crons("resume", cron_id)).toMatchObject({
      enabled: true,
      next_run_date: cron?.next_run_date,
    });
    expect(await crons("delete", cron_id, "--yes")).toEqual({ deleted: [cron_id] });
    expect(await service.crons.count({})).toBe(0);
    const gone = await cli(["crons", "show", NOBODY, ...places[place]], { cwd: project.dir });
    expect([gone.code, gone.stderr]).toEqual([4, expect.stringContaining("does not exist")]);
  });

  it("the webhook of an unfinished run waits for it", async () => {
    const { project, service, places } = await open();
    const { thread_id } = await service.threads.create({});
    const gate = newId();
    const request = { assistant_id: "gate", input: { gate }, webhook: "http://127.0.0.1:9/hook" };
    const { run_id } = await service.runs.background(thread_id, request);
    const call = (...argv: string[]) =>
      cli(["webhooks", "send", run_id, ...argv, ...places[place]], { cwd: project.dir });
    expect((await call()).stderr).toContain(
      `run ${run_id} has not ended: a server will send its webhook when it ends`,
    );
    expect(JSON.parse((await call("--json")).stdout)).toEqual({ waiting: [run_id] });
  });

  it("failed webhooks are listed, resent and deleted", async () => {
    const { project, service, places, run_id, receiver } = await open();
    const call = (...argv: string[]) => cli(["webhooks", ...argv, ...places[place]], { cwd: project.dir });
    const { stdout } = await call("list", "--status", "failed", "--json");
    const { items } = JSON.parse(stdout) as { items: Webhook[] };
    expect(items).toMatchObject([{ run_id, sendings: 1, last_error: "the receiver answered 410" }]);
    await receiver.next();
    receiver.answers.push(410);
    expect((await call("send", run_id)).code).toBe(0);
    // The server sees rows written directly to the database in its next poll.
    await service.fireDue(new Date().toISOString());
    expect((await receiver.next()).run.run_id).toBe(run_id);
    const status = async () => (await call("list")).stdout;
    await expect.poll(status).toMatch(/ failed /);
    expect((await call("delete", run_id)).code).toBe(0);
    expect(await call("delete", run_id)).toMatchObject({ code: 4 });
    expect((await call("list")).stderr).toContain("no webhooks found");
  });
});

it("crons list fails against a server without crons", async () => {
  const server = await serve(await openTestService({ graphs }));
  const { code, stderr } = await cli(["crons", "list", "--url", server.url]);
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/route .* does not exist|404/);
});

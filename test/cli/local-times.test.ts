/** Times are local on a terminal, and UTC in all other output. */
import { afterAll, beforeAll, expect } from "vitest";
import { itSqlite as it } from "../helpers/with-sqlite.js";
import { cli, type CliOptions } from "./harness.js";
import { seedProject, type Seeded } from "./seeded.js";

const ZONE = "Asia/Tehran";
const NOTE = `times are in ${ZONE}\n`;
const AHEAD_MS = 3.5 * 3_600_000;

let seeded: Seeded;
const zoneBefore = process.env.TZ;
beforeAll(async () => {
  process.env.TZ = ZONE;
  seeded = await seedProject();
});
afterAll(async () => {
  if (zoneBefore === undefined) delete process.env.TZ;
  else process.env.TZ = zoneBefore;
  await seeded.project.remove();
});

const run = (argv: string[], options: CliOptions = {}) => cli(argv, { cwd: seeded.project.dir, ...options });
const onTerminal = (...argv: string[]) => run(argv, { isTTY: true, columns: 120, env: { NO_COLOR: "1" } });

const local = (time: string): string =>
  new Date(Date.parse(time) + AHEAD_MS).toISOString().slice(0, 19).replace("T", " ");

interface Card {
  thread: { created_at: string; updated_at: string };
  runs: { run_id: string; created_at: string }[];
}
const cardOf = async (): Promise<Card> =>
  JSON.parse((await run(["inspect", "thread", seeded.chat, "--json"])).stdout) as Card;

it("a terminal shows local times and names the time zone once", async () => {
  const { thread, runs } = await cardOf();
  const { stdout, stderr } = await onTerminal("inspect", "thread", seeded.chat);
  expect(stdout).toContain(`created    ${local(thread.created_at)}\n`);
  expect(stdout).toContain(`updated    ${local(thread.updated_at)}\n`);
  for (const { created_at } of runs) expect(stdout).toContain(local(created_at));
  expect(stderr).toBe(NOTE);
  const [run_] = runs;
  const list = await onTerminal("runs", "list", seeded.chat);
  expect(list.stdout).toContain(local(run_?.created_at ?? ""));
  expect(list.stderr.split(NOTE)).toHaveLength(2);
});

it.each([
  ["replay", "CHAT"],
  ["history", "CHAT"],
  ["inspect", "state", "CHAT", "--checkpoint", "-1"],
  ["inspect", "checkpoint", "CHAT"],
])("%s %s shows no UTC times on a terminal", async (...argv) => {
  const { thread } = await cardOf();
  const { stdout } = await onTerminal(...argv.map((word) => (word === "CHAT" ? seeded.chat : word)));
  expect(stdout).not.toContain(thread.created_at.slice(0, 13));
  expect(stdout).not.toContain(thread.created_at.slice(0, 13).replace("T", " "));
});

it("pipes and JSON contain UTC times", async () => {
  const { thread } = await cardOf();
  expect(thread.created_at).toMatch(/Z$/);
  const { stdout, stderr } = await run(["inspect", "thread", seeded.chat]);
  expect(stdout).toContain(`created    ${thread.created_at}\n`);
  expect(stderr).toBe("");
  const json = await onTerminal("inspect", "thread", seeded.chat, "--json");
  expect((JSON.parse(json.stdout) as Card).thread).toEqual(thread);
  expect(json.stderr).toBe("");
});

it("a date in a flag is a local date", async () => {
  const listed = async (since: string): Promise<number> => {
    const { stdout } = await run(["threads", "list", "--since", since, "--json"]);
    return (JSON.parse(stdout) as { items: object[] }).items.length;
  };
  const { thread } = await cardOf();
  const today = local(thread.updated_at).slice(0, 10);
  const midnight = new Date(Date.parse(`${today}T00:00:00Z`) - AHEAD_MS).toISOString();
  expect(await listed(today)).toBe(await listed(midnight));
  expect(await listed(today)).toBeGreaterThan(0);
  expect(await listed(local(thread.updated_at))).toBeGreaterThan(0);
});

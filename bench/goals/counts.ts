/** Promises, sends, system calls and allocated memory per run: they do not depend on the machine, so CI holds limits on them. */
import type { Counts } from "../counters.js";
import type { FloorUnit } from "../floor-process.js";
import { QUESTION } from "../graphs.js";
import type { Client, Floor, RunningServer, Stage } from "../processes.js";
import { valueRow, type Row } from "../report.js";

interface Case {
  what: string;
  unit: FloorUnit;
  /** Lower a limit when fewer are reached; raising one needs a reason. */
  most: Readonly<Measured>;
}

const CASES: readonly Case[] = [
  {
    what: "one node, wait",
    unit: { graph: "g1", input: QUESTION },
    most: { promises: 570, sends: 2, systemCalls: 5, kilobytes: 1000 },
  },
  {
    what: "one node, stream",
    unit: { graph: "g1", input: QUESTION, stream: "values" },
    most: { promises: 580, sends: 5, systemCalls: 8, kilobytes: 1010 },
  },
  {
    what: "ten supersteps",
    unit: { graph: "g2", input: { n: 0 } },
    most: { promises: 2300, sends: 2, systemCalls: 5, kilobytes: 4200 },
  },
  {
    what: "200 tokens",
    unit: { graph: "g3", input: QUESTION, stream: "messages" },
    most: { promises: 9270, sends: 20, systemCalls: 23, kilobytes: 7000 },
  },
  {
    what: "200 custom events",
    unit: { graph: "g3c", input: { count: 200 }, stream: "custom" },
    most: { promises: 2150, sends: 6, systemCalls: 9, kilobytes: 2000 },
  },
];

/** Runs that are counted, after the warm-up. */
const UNITS = 10;
const WARM_UP = 60;
const ROUNDS = 3;

export async function counts(goal: string, stage: Stage): Promise<Row[]> {
  const [server, client, floor] = [await stage.server(), stage.client(), stage.floor(["--expose-gc"])];
  const other = await stage.otherServer();
  const rows: Row[] = [];
  for (const one of CASES) {
    const base = await ofFloor(floor, one.unit);
    const before = other && (await ofServer(other, client, one.unit));
    rows.push(...rowsOf(goal, one, { ours: await ofServer(server, client, one.unit), base, before }));
  }
  return rows;
}

const LABELS = {
  promises: "promises",
  sends: "sends",
  systemCalls: "system calls",
  kilobytes: "kilobytes",
};

type Measured = Record<keyof typeof LABELS, number>;

const NAMES = Object.keys(LABELS) as (keyof Measured)[];

function rowsOf(
  goal: string,
  { what, most }: Case,
  { ours, base, before }: { ours: Measured; base: Measured; before?: Measured },
): Row[] {
  const shown = (name: keyof Measured) =>
    [name === "sends" ? "" : `${Math.round(base[name])}`, before && `before ${Math.round(before[name])}`]
      .filter(Boolean)
      .join(", ");
  // Without memory if garbage was collected in each round, and without system calls where they cannot be counted.
  const names = NAMES.filter((name) => Number.isFinite(ours[name]));
  return names.map((name) => ({
    ...valueRow([goal, `${what}: ${LABELS[name]} per run`], ours[name], "", { atMost: most[name] }),
    floor: shown(name),
  }));
}

async function ofServer(server: RunningServer, client: Client, unit: FloorUnit): Promise<Measured> {
  const stream = unit.stream === "messages" ? "messages-tuple" : unit.stream;
  const load = { ...unit, stream, url: server.url, clients: 1 };
  await client.call("load", { ...load, units: WARM_UP });
  return leastOf(async () => {
    await server.call("startCounting");
    await client.call("load", { ...load, units: UNITS });
    return server.call("stopCounting");
  });
}

async function ofFloor(floor: Floor, unit: FloorUnit): Promise<Measured> {
  await floor.call("count", { ...unit, units: WARM_UP });
  return leastOf(() => floor.call("count", { ...unit, units: UNITS }));
}

/** The least of several rounds: on a busy machine a run takes more turns of the event loop, and these cost promises. */
async function leastOf(round: () => Promise<Counts>): Promise<Measured> {
  const rounds: Measured[] = [];
  for (let count = 0; count < ROUNDS; count += 1) rounds.push(perUnit(await round()));
  const least = (name: keyof Measured) => Math.min(...rounds.map((one) => one[name]));
  return Object.fromEntries(NAMES.map((name) => [name, least(name)])) as Measured;
}

const perUnit = ({
  promises,
  sends,
  systemCalls = Infinity,
  allocatedBytes = Infinity,
}: Counts): Measured => ({
  promises: promises / UNITS,
  sends: sends / UNITS,
  systemCalls: systemCalls / UNITS,
  kilobytes: allocatedBytes / UNITS / 1024,
});

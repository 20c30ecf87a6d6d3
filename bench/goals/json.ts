/** json: a request body of 1 MB, parsed with all checks, compared with `JSON.parse`. */
import { performance } from "node:perf_hooks";
import type * as JsonBody from "../../src/http/core/json-body.js";
import { loadDist } from "../dist-modules.js";
import type { Stage } from "../processes.js";
import { ratioRow, type Row } from "../report.js";
import { median } from "../stats.js";

const ROUNDS = 50;
const MESSAGE = { role: "user", content: 'A sentence of a chat, with "quotes" in it. '.repeat(5), id: "m-1" };

export async function json(goal: string, stage: Stage): Promise<Row[]> {
  const { parseJson } = await loadDist<typeof JsonBody>(stage.options.dist, "jsonBody");
  const messages = Array.from({ length: 4_000 }, () => MESSAGE);
  const bytes = Buffer.from(JSON.stringify({ assistant_id: "agent", input: { messages } }));
  const sides = [() => JSON.parse(bytes.toString()) as unknown, () => parseJson(bytes)];
  const times: number[][] = [[], []];
  for (let round = -5; round < ROUNDS; round += 1)
    for (const [index, parse] of sides.entries()) {
      const start = performance.now();
      parse();
      // The first rounds compile the functions.
      if (round >= 0) times[index]?.push(performance.now() - start);
    }
  const [floor = NaN, ours = NaN] = times.map(median);
  return [ratioRow([goal, "a body of 1 MB, checked and parsed"], { floor, ours, unit: "ms" }, { atMost: 2 })];
}

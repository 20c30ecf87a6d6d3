/** usage: `GET /usage` over a million rows on PostgreSQL, compared with counting them. */
import { execute } from "../postgres.js";
import type { Stage } from "../processes.js";
import { ratioRow, type Row } from "../report.js";
import { medianTime } from "../rounds.js";

const ROWS = 1_000_000;
const REPEATS = 5;
const GROUPS = ["user", "graph", "model", "day", "user,model,day"];

export async function usage(goal: string, stage: Stage): Promise<Row[]> {
  const server = await stage.postgresServer();
  if (server?.schema === undefined) return [];
  const table = `${server.schema}.gs_usage`;
  const rows = stage.scaled(ROWS, 1000);
  await execute(insertion(table, rows));
  await execute(`ANALYZE ${table}`);
  const counted = await medianTime(REPEATS, () => execute(`SELECT count(*) FROM ${table}`));
  const measured: Row[] = [];
  for (const group of GROUPS) {
    const url = `${server.url}/usage?group_by=${group}`;
    const ms = await medianTime(REPEATS, async () => void (await (await fetch(url)).json()));
    measured.push(
      ratioRow(
        [goal, `usage of ${rows} rows by ${group}, against counting the rows`],
        { floor: counted, ours: ms, unit: "ms" },
        { atMost: 10 },
      ),
    );
  }
  return measured;
}

/** 1,000 users, 5 models and 10 graphs within 90 days. */
const insertion = (table: string, rows: number): string => `
  INSERT INTO ${table}
  SELECT 'run-' || n, 1, 0, 'thread-' || n / 10, 'graph-' || n % 10, 'user-' || n % 1000, NULL, 'model', 'openai',
    'model-' || n % 5, to_char(date '2026-01-01' + n % 90, 'YYYY-MM-DD'),
    to_char(date '2026-01-01' + n % 90, 'YYYY-MM-DD') || 'T12:00:00.000Z', 1, 900, 100, 300, 0, 20, 1500000, 0
  FROM generate_series(1, ${rows}) AS n`;

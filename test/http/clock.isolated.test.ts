/** Clock skew between a process and its database, as reported by `/ready`, the log and `doctor`. */
import { expect, it, vi } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { serve } from "../helpers/app.js";
import { withMongodb } from "../helpers/mongodb.js";
import { withPostgres } from "../helpers/postgres.js";
import { withRedis } from "../helpers/redis.js";
import { settingsOf } from "../helpers/server-processes.js";
import { openTestService, recordingLogger } from "../helpers/service.js";

const realNow = Date.now;

async function readiness(settings: Partial<Settings>, shiftMs: number) {
  const clock = vi.spyOn(Date, "now").mockImplementation(() => realNow() + shiftMs);
  try {
    const logger = recordingLogger();
    const service = await openTestService({ graphs: { gate }, settings, logger });
    const { request } = await serve(service);
    const { body } = await request("GET", "/ready");
    const findings = await service.storageFindings();
    const { clock_difference_seconds: seconds } = body as { clock_difference_seconds?: number };
    return { seconds, warned: logger.of("warn"), finding: findings.find(({ name }) => name === "clock") };
  } finally {
    clock.mockRestore();
  }
}

function clockTests(settings: () => Partial<Settings>): void {
  it.each([
    [5000, "5.0 s ahead of"],
    [-90_000, "90.0 s behind"],
  ])("a clock skew of %i ms is reported", async (shiftMs, words) => {
    const { seconds, warned, finding } = await readiness(settings(), shiftMs);
    expect(Math.abs((seconds ?? 0) - shiftMs / 1000)).toBeLessThan(0.5);
    expect(finding).toMatchObject({ ok: false, fix: expect.stringContaining("NTP") as string });
    for (const text of [finding?.detail, warned.find((line) => line.includes("clock"))])
      expect(text).toMatch(/^this machine's clock is [\d.]+ s (ahead of|behind) the database's/);
    expect(finding?.detail.replace(/\d+\.\d/, (digits) => Math.round(Number(digits)).toFixed(1))).toContain(
      words,
    );
  });

  it("a synchronized clock is reported as such", async () => {
    const { seconds, warned, finding } = await readiness(settings(), 0);
    expect(Math.abs(seconds ?? 1)).toBeLessThan(0.5);
    expect(finding).toMatchObject({ ok: true, detail: expect.stringMatching(/^within 0\.\d s/) as string });
    expect(warned.filter((line) => line.includes("clock"))).toEqual([]);
  });
}

withPostgres("clocks on postgres", (postgres) => clockTests(() => settingsOf(postgres.options())));
withMongodb("clocks on mongodb", (mongodb) => clockTests(() => settingsOf(mongodb().options())));
withRedis("clocks on redis", (redis) => clockTests(() => settingsOf(redis.options())));

it("in-process storage reports no clock skew", async () => {
  expect(await readiness({}, 5000)).toEqual({ seconds: undefined, warned: [], finding: undefined });
});

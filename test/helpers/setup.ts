/** Runs after each test file: files share a process, so leftovers of one would affect the next. */
import { afterAll, expect, vi } from "vitest";

const { setTimeout: realTimeout, Date: realDate } = globalThis;

afterAll(() => {
  const left = [setTimeout !== realTimeout && "setTimeout", Date !== realDate && "Date"].filter(Boolean);
  vi.useRealTimers();
  expect(left, "the test file left a fake clock behind").toEqual([]);
});

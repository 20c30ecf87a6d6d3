/** After each file: files share a process, so what one leaves behind would meet the next one. */
import { afterAll, expect, vi } from "vitest";

const { setTimeout: realTimeout, Date: realDate } = globalThis;

afterAll(() => {
  const left = [setTimeout !== realTimeout && "setTimeout", Date !== realDate && "Date"].filter(Boolean);
  vi.useRealTimers();
  expect(left, "a fake clock that the file left behind").toEqual([]);
});

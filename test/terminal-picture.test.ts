/** The picture in README.md shows a real session. Its output may be outdated, but the commands must work. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { drawSession, playSession } from "../scripts/terminal-picture.mjs";
import { ROOT } from "./helpers/markdown.js";

/** The lines of a picture, without colors. */
const textOf = (svg: string): string =>
  Array.from(svg.matchAll(/<text[^>]*>(.*)<\/text>/g), ([, line = ""]) => line.replace(/<[^>]+>/g, "")).join(
    "\n",
  );

describe("docs/terminal.svg", () => {
  let session: Awaited<ReturnType<typeof playSession>>;
  beforeAll(async () => {
    session = await playSession();
  });

  it("shows commands that succeed", () => {
    expect(session.flat().filter(({ code }) => code !== 0)).toEqual([]);
    const [served, asked, looked, replayed] = session.flat().map(({ text }) => text);
    expect(served).toContain("http://127.0.0.1:2024");
    expect(asked).toContain("12 * 7 = 84");
    expect(looked).toContain("tools");
    // The stored run was streamed, and the new one was not: their messages are equal nevertheless.
    expect(replayed).toMatch(/=\S* step 3 {2}model_request/);
    expect(replayed).not.toContain("≠");
  });

  it("shows the commands of its script; run node --import tsx scripts/terminal-picture.mjs to redraw it", async () => {
    const shown = textOf(await readFile(join(ROOT, "docs/terminal.svg"), "utf8"));
    const drawn = textOf(drawSession(session));
    for (const { command } of session.flat()) {
      const line = command.replaceAll("<", "&lt;").replaceAll(">", "&gt;");
      expect(drawn).toContain(line);
      expect(shown).toContain(line);
    }
  });

  it("is small and contains no paths of the machine that drew it", async () => {
    const svg = await readFile(join(ROOT, "docs/terminal.svg"), "utf8");
    expect(svg.length).toBeLessThan(20_000);
    expect(svg).not.toMatch(/\/(home|root|tmp|work|Users)\//);
  });
});

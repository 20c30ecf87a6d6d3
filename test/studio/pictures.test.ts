/**
 * Every screen looks as its stored picture in test/studio/pictures, in both themes and at two widths. `npm run pictures`
 * stores how the screens look now, also for the documentation. GRAPH_SERVE_SHOTS names a folder for full-size pictures.
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { describeWithChromium, type Look, useChromium } from "../helpers/chromium.js";
import { settling, visit } from "./open.js";
import { differences, sheetOf, type Shot, webpOf } from "./pictures/compare.js";
import { NOW, renameNode, saveShadowRuns, THREADS, useDesk } from "./pictures/desk.js";
import { fontsOf, hideIds } from "./pictures/page.js";
import { type Screen, SCREENS, SHADOW, VERSIONS } from "./pictures/screens.js";

const STORED = join(import.meta.dirname, "pictures");
const FONTS = join(STORED, "fonts.json");
const DOCS = join(import.meta.dirname, "../../docs/pictures");
const isWriting = process.env.GRAPH_SERVE_PICTURES === "write";
/** The share of pixels that may differ. */
const TOLERANCE = 0.01;
const UPDATE = "If the change is wanted, store the new pictures: npm run pictures";

const LOOKS: readonly Required<Look>[] = [
  { width: 1440, height: 900, scheme: "light" },
  { width: 1440, height: 900, scheme: "dark" },
  { width: 390, height: 844, scheme: "light" },
  { width: 390, height: 844, scheme: "dark" },
];

const fileOf = (name: string): string => join(STORED, `${name}.webp`);
const nameOf = ({ width, scheme }: Required<Look>): string => `${width}-${scheme}`;

async function save(folder: string, name: string, shots: readonly Shot[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [index, look] of LOOKS.entries())
    if (shots[index]) await writeFile(join(folder, `${name}-${nameOf(look)}.png`), shots[index]);
}

interface Tab {
  page: Page;
  settled: () => Promise<void>;
}

describeWithChromium("pictures of the Studio", () => {
  const open = useChromium();
  const desk = useDesk();
  const tabs: Tab[] = [];
  let blank: Page;

  beforeAll(async () => {
    blank = (await open()).page;
    for (const look of LOOKS) tabs.push(await openTab(look));
  });

  /** Pages are opened once, because loading them takes longer than everything else. */
  async function openTab(look: Look): Promise<Tab> {
    const { url, token } = desk();
    const { page } = await open(look);
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.clock.setFixedTime(new Date(NOW));
    const settled = settling(page);
    await visit(page, `${url}/studio/#token=${token}`);
    return { page, settled };
  }

  async function shotOf({ page, settled }: Tab, { place, ready, act, isLive }: Screen): Promise<Shot> {
    await visit(page, `${desk().url}/studio/#${place}`);
    await page.locator(ready).first().waitFor({ state: "attached" });
    await act?.(page);
    if (!isLive) await settled();
    const shot = await shoot(page);
    // Closes what `act` has opened.
    if (act) await page.keyboard.press("Escape");
    return shot;
  }

  async function shoot(page: Page): Promise<Shot> {
    await page.mouse.move(0, 0);
    await hideIds(page, desk().project.dir);
    return page.screenshot({ animations: "disabled", caret: "hide" });
  }

  async function write(screen: Screen, shots: readonly Shot[]): Promise<void> {
    await writeFile(FONTS, `[${(await fontsOf(blank)).join(", ")}]\n`);
    await writeFile(fileOf(screen.name), await sheetOf(blank, shots));
    if (!screen.isInDocs || !shots[0]) return;
    await mkdir(DOCS, { recursive: true });
    await writeFile(join(DOCS, `${screen.name}.webp`), await webpOf(blank, shots[0]));
  }

  const hasOtherFonts = async (): Promise<boolean> =>
    existsSync(FONTS) && `[${(await fontsOf(blank)).join(", ")}]\n` !== (await readFile(FONTS, "utf8"));

  async function compare({ name }: Screen, shots: readonly Shot[]): Promise<void> {
    if (!existsSync(fileOf(name))) throw new Error(`${fileOf(name)} does not exist. ${UPDATE}`);
    const shares = await differences(blank, await readFile(fileOf(name)), shots);
    const wrong = LOOKS.filter((_, index) => (shares[index] ?? 1) > TOLERANCE);
    if (wrong.length === 0) return;
    const folder = process.env.GRAPH_SERVE_SHOTS ?? (await mkdtemp(join(tmpdir(), "graph-serve-pictures-")));
    await save(folder, name, shots);
    const percents = LOOKS.map(
      (look, index) => `${nameOf(look)} ${((shares[index] ?? 1) * 100).toFixed(1)} %`,
    );
    throw new Error(
      `${name} differs from ${fileOf(name)} in more than ${TOLERANCE * 100} % of its pixels: ${percents.join(", ")}. See ${folder}. ${UPDATE}`,
    );
  }

  /** Returns false on a machine whose fonts differ from those of the stored pictures. */
  async function check(screen: Screen): Promise<boolean> {
    const shots: Shot[] = [];
    for (const tab of tabs) shots.push(await shotOf(tab, screen));
    const folder = process.env.GRAPH_SERVE_SHOTS;
    if (folder) await save(folder, screen.name, shots);
    if (isWriting) await write(screen, shots);
    else if (await hasOtherFonts()) return false;
    else await compare(screen, shots);
    return true;
  }
  const OTHER_FONTS = "the fonts of this machine are not those of the stored pictures";

  for (const screen of SCREENS)
    it(`${screen.name} looks as stored`, async ({ skip }) => skip(!(await check(screen)), OTHER_FONTS));

  it("a pane that is hidden, moved or colored differently is noticed, the same screen is not", async () => {
    const [tab] = tabs as [Tab];
    const { page } = tab;
    const stored = await sheetOf(blank, [
      await shotOf(tab, { name: "again", place: `/run/${THREADS.order}`, ready: ".node-line" }),
    ]);
    const share = async (): Promise<number> =>
      (await differences(blank, stored, [await shoot(page)]))[0] ?? 1;
    expect(await share()).toBeLessThan(TOLERANCE / 10);
    for (const [selector = "", property = "", value = ""] of [
      [".run-main", "display", "none"],
      [".bar", "margin-left", "-60px"],
      [".graph-view", "background", "#808080"],
    ]) {
      const set = (to: string) =>
        page.evaluate(`document.querySelector("${selector}").style.setProperty("${property}", "${to}")`);
      await set(value);
      expect(await share(), selector).toBeGreaterThan(TOLERANCE);
      await set("");
    }
  });

  it("versions looks as stored, after a node was renamed", async ({ skip }) => {
    await renameNode(desk());
    for (const { page } of tabs) await page.getByText(/^reloaded /).waitFor({ state: "attached" });
    skip(!(await check(VERSIONS)), OTHER_FONTS);
  });

  it("shadow looks as stored, after shadow runs", async ({ skip }) => {
    await saveShadowRuns(desk());
    for (const { page } of tabs) await page.reload();
    skip(!(await check(SHADOW)), OTHER_FONTS);
  });
});

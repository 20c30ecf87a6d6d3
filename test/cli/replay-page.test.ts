import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createThreadProject, type ThreadProject } from "./thread-fixture.js";

const HOSTILE =
  "</script><script>window.pwned = 1</script><img src=x onerror='window.pwned=2'> ${alert(1)} \u001b[2J\u202eevil";

/** The few things of jsdom that are used here; the package brings no types. */
interface PageElement {
  textContent: string | null;
  className: string;
  disabled: boolean;
  click(): void;
  getAttribute(name: string): string | null;
}
interface PageDocument {
  getElementById(id: string): PageElement | null;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): ArrayLike<PageElement> & Iterable<PageElement>;
  dispatchEvent(event: object): boolean;
}
interface PageWindow {
  document: PageDocument;
  HTMLElement: { prototype: object };
  KeyboardEvent: new (type: string, options: { key: string; cancelable: boolean }) => object;
  addEventListener(type: "error", listener: (event: { message: string }) => void): void;
  close(): void;
}
const { JSDOM } = createRequire(import.meta.url)("jsdom") as {
  JSDOM: new (
    html: string,
    options: { runScripts: string; pretendToBeVisual: boolean; beforeParse(window: PageWindow): void },
  ) => { window: PageWindow };
};

let project: ThreadProject;
let page: string;
beforeAll(async () => {
  project = await createThreadProject(HOSTILE);
  page = (await project.run(["replay", project.threadId, "--format", "html"])).stdout;
});
afterAll(() => project.remove());

/** The page as a browser runs it; whatever it would ask for is noted. */
function open(html = page) {
  const faults: string[] = [];
  const dom = new JSDOM(html, {
    runScripts: "dangerously",
    pretendToBeVisual: true,
    beforeParse: (window) => {
      window.addEventListener("error", ({ message }) => faults.push(message));
      // What the page calls and this window lacks.
      Object.assign(window, { structuredClone });
      Object.assign(window.HTMLElement.prototype, { scrollIntoView: () => undefined });
    },
  });
  const { document } = dom.window;
  const click = (id: string) => document.getElementById(id)?.click();
  const key = (name: string) =>
    document.dispatchEvent(new dom.window.KeyboardEvent("keydown", { key: name, cancelable: true }));
  const texts = (selector: string) =>
    [...document.querySelectorAll(selector)].map(({ textContent }) => textContent ?? "");
  const values = () => JSON.parse(texts("#step pre")[0] ?? "null") as Record<string, unknown>;
  return { dom, document, faults, click, key, texts, values };
}

describe("the page", () => {
  it("steps through every checkpoint", async () => {
    const { document } = await project.json<{
      items: { values: object; checkpoint: { checkpoint_id: string } }[];
    }>(["replay", project.threadId]);
    const { texts, values, key, faults, dom } = open();
    expect(texts("#timeline button")).toHaveLength(document.items.length);
    for (const { values: expected, checkpoint } of document.items) {
      expect(values()).toEqual(JSON.parse(JSON.stringify(expected).replaceAll("\\u001b", "\\u001b")));
      expect(texts(".facts li")).toContain(`checkpoint ${checkpoint.checkpoint_id}`);
      key("ArrowRight");
    }
    expect(texts("#place")).toEqual([`${document.items.length} of ${document.items.length}`]);
    expect(faults).toEqual([]);
    dom.window.close();
  });

  it("shows chat, changes, branch and question", () => {
    const { texts, click, document, dom } = open();
    expect(texts("#timeline .badge")).toEqual(["2 branches", "waits"]);
    click("last");
    expect(texts("#step .waits")).toEqual(['waits for {"question":"how much?"}']);
    expect(texts("#step .message.new .text").at(-1)).toBe("echo: pay 5");
    expect(texts("#step .change .where")).toEqual(["count"]);
    const lanes = [...document.querySelectorAll("#timeline button")].map(({ className }) => className);
    expect(new Set(lanes)).toEqual(new Set(["lane0", "lane1"]));
    dom.window.close();
  });

  it("a branch leads back to where it began", () => {
    const { document, texts, key, dom } = open();
    let origin: PageElement | null = null;
    for (let step = 0; step < 20 && !origin; step += 1) {
      key("ArrowRight");
      origin = document.querySelector("#step .origin");
    }
    expect(origin?.textContent).toBe("a branch from step 1 reply");
    origin?.click();
    expect(texts("#step h2")).toEqual(["step 1  reply"]);
    dom.window.close();
  });

  it("buttons stop at both ends", () => {
    const { document, click, texts, dom } = open();
    const isDisabled = (id: string) => document.querySelector(`#${id}`)?.disabled;
    expect([isDisabled("back"), isDisabled("next")]).toEqual([true, false]);
    click("next");
    expect(texts("#place")[0]).toMatch(/^2 of/);
    click("last");
    expect([isDisabled("back"), isDisabled("next")]).toEqual([false, true]);
    click("first");
    expect(texts("#place")[0]).toMatch(/^1 of/);
    dom.window.close();
  });
});

describe("safety", () => {
  it("hostile text stays text", () => {
    const { dom, document, texts, key } = open();
    key("ArrowRight");
    const shown = texts("#step .text").join("") + texts("#step .what").join("");
    expect(shown).toContain("</script><script>window.pwned = 1</script><img src=x");
    expect(shown).toContain("\\u001b[2J\\u202eevil");
    expect("pwned" in dom.window).toBe(false);
    expect(document.querySelectorAll("img, iframe, object, embed")).toHaveLength(0);
    expect(document.querySelectorAll("script")).toHaveLength(2);
    dom.window.close();
  });

  it("nothing is asked for from elsewhere", () => {
    const { document, dom } = open();
    const policy = document.querySelector("meta[http-equiv]")?.getAttribute("content") ?? "";
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^ ]+'; style-src 'sha256-[^ ]+'/);
    expect(policy).not.toContain("unsafe");
    expect(document.querySelectorAll("[src], link[rel=stylesheet]")).toHaveLength(0);
    expect([...document.querySelectorAll("[href]")].map((each) => each.getAttribute("href"))).toEqual([
      "data:,",
    ]);
    expect(page).not.toMatch(/url\(|@import|https?:\/\/|\.innerHTML|insertAdjacentHTML|document\.write/);
    dom.window.close();
  });

  it("raw control bytes and hidden keys stay out", () => {
    expect(page).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
    expect(page).not.toContain("internal");
  });
});

describe("odd threads", () => {
  it("an empty thread makes a page that says so", async () => {
    const { document } = await project.json<{ thread_id: string }>(["threads", "create"]);
    const { stdout } = await project.run(["replay", document.thread_id, "--format", "html"]);
    const opened = open(stdout);
    expect(opened.texts("#step")).toEqual(["This thread has no checkpoints."]);
    expect(opened.faults).toEqual([]);
    opened.dom.window.close();
  });

  it("a range starts from the values before it", async () => {
    const { stdout } = await project.run([
      "replay",
      project.threadId,
      "--checkpoint",
      "1",
      "--format",
      "html",
    ]);
    const { values, dom } = open(stdout);
    const { document } = await project.json<{ items: { values: unknown }[] }>([
      "replay",
      project.threadId,
      "--checkpoint",
      "1",
    ]);
    expect(values()).toEqual(document.items[0]?.values);
    dom.window.close();
  });
});

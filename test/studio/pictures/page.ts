/** What differs between two machines or two runs of the tests: ids and folders, and the fonts. */
import type { Page } from "playwright-core";

interface Field {
  value: string;
}
interface Window {
  document: {
    body: object;
    createTreeWalker(root: object, what: number): { nextNode(): { data: string } | null };
    querySelectorAll(selector: string): Iterable<Field>;
    createElement(name: string): {
      getContext(kind: string): { font: string; measureText(text: string): { width: number } };
    };
  };
}

/** Replaces ids and the folder of the project, wherever they are shown. */
export const hideIds = (page: Page, folder: string): Promise<void> =>
  page.evaluate((dir) => {
    const { document } = globalThis as unknown as Window;
    const hidden = (text: string): string =>
      text
        .replaceAll(dir, "/srv/support-desk")
        // The ids of the threads are fixed.
        .replaceAll(/(?!0197f0a0)[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, (id) =>
          id.replaceAll(/[^-]/g, "0"),
        )
        .replaceAll(/(?<=support-)[\da-f]{8}\b/g, "00000000");
    const SHOW_TEXT = 4;
    const walker = document.createTreeWalker(document.body, SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = hidden(node.data);
      if (text !== node.data) node.data = text;
    }
    for (const field of document.querySelectorAll("input, textarea")) {
      const text = hidden(field.value);
      if (text !== field.value) field.value = text;
    }
  }, folder);

/** Widths of a text in the fonts of the Studio. With other fonts, lines break elsewhere. */
export const fontsOf = (page: Page): Promise<number[]> =>
  page.evaluate(() => {
    const { document } = globalThis as unknown as Window;
    const context = document.createElement("canvas").getContext("2d");
    return ["ui-sans-serif, system-ui, sans-serif", "ui-monospace, monospace"].map((family) => {
      context.font = `100px ${family}`;
      return Math.round(context.measureText("Where is order 4711? It arrives on Friday.").width);
    });
  });

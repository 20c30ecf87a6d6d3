/**
 * Compares pictures with stored ones at a quarter of their size, so that neither another version of the browser nor the
 * smoothing of its text matters, but a moved pane does. All pictures of a screen are in one file, side by side.
 */
import type { Page } from "playwright-core";

/** A picture as PNG. */
export type Shot = Buffer;

/** Stored pictures are smaller by this factor. */
const SCALE = 4;
/** Difference of a color channel, of 255, from which on two pixels differ. */
const CHANNEL = 24;

const urlOf = (type: string, bytes: Buffer): string =>
  `data:image/${type};base64,${bytes.toString("base64")}`;
const bytesOf = (url: string): Buffer => Buffer.from(url.slice(url.indexOf(",") + 1), "base64");

/** The pictures side by side at a quarter of their size, as WebP. */
export async function sheetOf(page: Page, shots: readonly Shot[]): Promise<Buffer> {
  return bytesOf(
    await page.evaluate(drawSheet, { urls: shots.map((shot) => urlOf("png", shot)), scale: SCALE }),
  );
}

/** A picture as WebP in its own size. */
export async function webpOf(page: Page, shot: Shot): Promise<Buffer> {
  return bytesOf(await page.evaluate(drawSheet, { urls: [urlOf("png", shot)], scale: 1 }));
}

/** The share of pixels that differ between each picture and the stored one. 1 if its size differs. */
export async function differences(page: Page, sheet: Buffer, shots: readonly Shot[]): Promise<number[]> {
  return page.evaluate(compare, {
    ...{ sheet: urlOf("webp", sheet), urls: shots.map((shot) => urlOf("png", shot)) },
    ...{ scale: SCALE, channel: CHANNEL },
  });
}

// These functions run in the page.

interface Drawn {
  urls: string[];
  scale: number;
}

interface Bitmap {
  width: number;
  height: number;
}
interface Context {
  imageSmoothingQuality: string;
  drawImage(image: Bitmap, x: number, y: number, width: number, height: number): void;
  getImageData(x: number, y: number, width: number, height: number): { data: Uint8ClampedArray };
}
interface Canvas extends Bitmap {
  getContext(kind: string): Context;
  toDataURL(type: string, quality: number): string;
}
interface Window {
  document: { createElement(name: string): Canvas };
  Image: new () => Bitmap & { src: string; decode(): Promise<void> };
}

async function drawSheet({ urls, scale }: Drawn): Promise<string> {
  const { document, Image } = globalThis as unknown as Window;
  const images = await Promise.all(
    urls.map(async (src) => {
      const image = Object.assign(new Image(), { src });
      await image.decode();
      return image;
    }),
  );
  const canvas = document.createElement("canvas");
  canvas.width = images.reduce((sum, { width }) => sum + Math.round(width / scale), 0);
  canvas.height = Math.max(...images.map(({ height }) => Math.round(height / scale)));
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  let x = 0;
  for (const image of images) {
    const [width, height] = [Math.round(image.width / scale), Math.round(image.height / scale)];
    context.drawImage(image, x, 0, width, height);
    x += width;
  }
  return canvas.toDataURL("image/webp", 0.82);
}

async function compare({ sheet, urls, scale, channel }: Drawn & { sheet: string; channel: number }) {
  const { document, Image } = globalThis as unknown as Window;
  const load = async (src: string) => {
    const image = Object.assign(new Image(), { src });
    await image.decode();
    return image;
  };
  const pixels = (image: Bitmap, size: Bitmap) => {
    const canvas = Object.assign(document.createElement("canvas"), size);
    const context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, size.width, size.height);
    return context;
  };
  const stored = await load(sheet);
  const before = pixels(stored, { width: stored.width, height: stored.height });
  const shares: number[] = [];
  let x = 0;
  for (const url of urls) {
    const image = await load(url);
    const [width, height] = [Math.round(image.width / scale), Math.round(image.height / scale)];
    const now = pixels(image, { width, height }).getImageData(0, 0, width, height).data;
    const then = before.getImageData(x, 0, width, height).data;
    let differing = 0;
    for (let at = 0; at < now.length; at += 4) {
      const most = Math.max(
        ...[0, 1, 2].map((each) => Math.abs((now[at + each] ?? 0) - (then[at + each] ?? 0))),
      );
      if (most >= channel) differing += 1;
    }
    shares.push(x + width > stored.width || height > stored.height ? 1 : differing / (width * height));
    x += width;
  }
  return shares;
}

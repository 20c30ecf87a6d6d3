/**
 * Serves the Studio, which scripts/build-pages.mjs builds from studio/. Only files of this package
 * are served.
 */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import express, { type Request, type RequestHandler } from "express";
import { GraphServeError } from "../../support/errors.js";
import { packageFile } from "../../support/own-package.js";
import type { PageHelpers } from "./helpers.js";

const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS = {
  "Content-Security-Policy": CONTENT_POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  Vary: "Accept-Encoding",
};

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

const PAGE = "index.html";

interface Asset {
  type: string;
  /** Value of Cache-Control; names with a hash are immutable. */
  caching: string;
  plain: Buffer;
  gzipped: Buffer;
}

export interface StudioOptions {
  /** Notice in the page about the values that it shows. */
  note?: string;
  /** Disables running and editing. */
  readOnly?: boolean;
  /** Helper API in addition to the public API. */
  helpers?: PageHelpers;
}

/** Handler for the Studio at its mount path. Only its own page can load the files. */
export function studio(options: StudioOptions = {}): RequestHandler {
  const router = express.Router();
  let assets: Promise<ReadonlyMap<string, Asset>> | undefined;
  if (options.helpers) router.use("/api", helpersOf(options.helpers));
  router.get("/{*path}", async (req, res, next) => {
    refuseForeign(req);
    if (req.path === "/" && !pathOf(req).endsWith("/")) return res.redirect(302, "studio/");
    assets ??= readAssets(options);
    // The build may be added later, so a failure is not cached.
    const asset = (await assets.catch((error: unknown) => ((assets = undefined), raise(error)))).get(
      req.path === "/" ? PAGE : req.path.slice(1),
    );
    if (!asset) return next();
    const isGzipped = req.acceptsEncodings("gzip", "identity") === "gzip";
    const headers = { ...HEADERS, "Content-Type": asset.type, "Cache-Control": asset.caching };
    res.set({ ...headers, ...(isGzipped && { "Content-Encoding": "gzip" }) });
    res.end(isGzipped ? asset.gzipped : asset.plain);
  });
  return router;
}

/** Loads the helper API on the first request, because most servers do not use it. */
function helpersOf(helpers: PageHelpers): RequestHandler {
  let handler: Promise<RequestHandler> | undefined;
  return async (req, res, next) => {
    handler ??= import("./helpers.js").then(({ studioHelpers }) => studioHelpers(helpers));
    (await handler)(req, res, next);
  };
}

const raise = (error: unknown): never => {
  throw error;
};

const pathOf = ({ originalUrl }: Request): string => originalUrl.split("?", 1)[0] ?? "";

/** Browsers send the origin of a request; navigation from other sites is allowed. */
function refuseForeign({ headers }: Request): void {
  const { "sec-fetch-site": site, "sec-fetch-mode": mode } = headers;
  if (site === undefined || site === "same-origin" || site === "none" || mode === "navigate") return;
  throw new GraphServeError("forbidden_origin", "the Studio's files can only be loaded by its own page");
}

const compress = promisify(gzip);

async function readAssets(options: StudioOptions): Promise<ReadonlyMap<string, Asset>> {
  const folder = packageFile("dist/studio");
  if (!existsSync(join(folder, PAGE))) {
    throw new GraphServeError("route_not_found", "the Studio is not built in this checkout", {
      hint: "run: npm run build",
    });
  }
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const assets = await Promise.all(
    files.map(async (file): Promise<[string, Asset]> => [
      file.slice(folder.length + 1).replaceAll("\\", "/"),
      await readAsset(file, options),
    ]),
  );
  return new Map(assets);
}

async function readAsset(file: string, options: StudioOptions): Promise<Asset> {
  const read = await readFile(file);
  const plain = basename(file) === PAGE ? withOptions(read, options) : read;
  return {
    type: TYPES[extname(file)] ?? "application/octet-stream",
    caching: /-[\w-]{8}\.\w+$/.test(file) ? "public, max-age=31536000, immutable" : "no-cache",
    plain,
    gzipped: await compress(plain, { level: 9 }),
  };
}

/** Adds the options to the page's head as meta tags. */
function withOptions(page: Buffer, { note, readOnly }: StudioOptions): Buffer {
  const options = { note, "read-only": readOnly ? "true" : undefined };
  const metas = Object.entries(options)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([name, content]) => `<meta name="studio-${name}" content="${escaped(content)}" />`);
  return Buffer.from(page.toString("utf8").replace("</head>", () => `${metas.join("")}</head>`));
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);

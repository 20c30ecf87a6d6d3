/** Serves the chat page of a sibling folder, bundled like an application, on its own origin. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { compile, compileModule } from "svelte/compiler";
import { build, type Plugin, type Rolldown } from "vite";
import { onTestFinished } from "vitest";

/** Files of the page by path. */
export type PageFiles = ReadonlyMap<string, string | Uint8Array>;

/** Bundles the page with the installed packages. */
export async function bundlePage(folder: string): Promise<PageFiles> {
  const built = (await build({
    root: join(import.meta.dirname, "..", folder),
    configFile: false,
    logLevel: "error",
    mode: "production",
    // The test runner sets a different NODE_ENV.
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [svelte],
    oxc: { jsx: { runtime: "automatic", development: false } },
    build: { write: false, target: "es2022", minify: false, modulePreload: false },
  })) as Rolldown.RolldownOutput;
  return new Map(
    built.output.map((file) => [`/${file.fileName}`, file.type === "chunk" ? file.code : file.source]),
  );
}

/** Compiles Svelte components and modules with runes. */
const svelte: Plugin = {
  name: "svelte",
  transform(code, id) {
    const options = { filename: id, generate: "client" as const };
    if (id.endsWith(".svelte")) return compile(code, options).js;
    if (id.endsWith(".svelte.js")) return compileModule(code, options).js;
    return null;
  },
};

const TYPES: Record<string, string> = { html: "text/html", js: "text/javascript", css: "text/css" };

/** Serves the page until the test ends and returns its origin. */
export async function servePage(files: PageFiles): Promise<string> {
  const server = createServer((req, res) => {
    const path = new URL(req.url ?? "/", "http://page").pathname;
    const file = files.get(path === "/" ? "/index.html" : path);
    const type = TYPES[path === "/" ? "html" : (path.split(".").pop() ?? "")] ?? "application/octet-stream";
    res.writeHead(file === undefined ? 404 : 200, { "Content-Type": type }).end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

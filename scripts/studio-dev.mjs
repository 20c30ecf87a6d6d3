/**
 * Serves the Studio from its sources, with hot reload: `npm run studio` beside a running `npm run dev`. All other
 * requests go to that server, by default http://127.0.0.1:2024; another one is the first argument.
 */
import { fileURLToPath } from "node:url";
import { createServer } from "vite";

const target = process.argv[2] ?? "http://127.0.0.1:2024";

const server = await createServer({
  root: fileURLToPath(new URL("../studio", import.meta.url)),
  configFile: false,
  base: "/studio/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  server: {
    host: "127.0.0.1",
    port: Number(process.env.PORT ?? 5173),
    // Tests run several at once.
    strictPort: false,
    fs: { allow: [fileURLToPath(new URL("..", import.meta.url))] },
    proxy: {
      // The API, and the part of it that only the Studio uses.
      "^/(?!studio/(?!api/))": {
        target,
        changeOrigin: true,
        configure: (proxy) => proxy.on("proxyReq", (request) => request.setHeader("origin", target)),
      },
    },
  },
});
await server.listen();
process.stdout.write(`studio ${server.resolvedUrls?.local[0]}, server ${target}\n`);

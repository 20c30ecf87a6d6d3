// Copies the Swagger UI assets for /docs into dist: a dependency on its package would install telemetry for
// users.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { brotliCompressSync } from "node:zlib";

/** Stored compressed: Brotli takes 100 KB less of the tarball than its own gzip does. */
const LARGE_FILES = ["swagger-ui.css", "swagger-ui-bundle.js"];
const FILES = ["swagger-ui-bundle.js.LICENSE.txt", "favicon-32x32.png", "LICENSE", "NOTICE"];

const from = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
const to = join(import.meta.dirname, "../dist/swagger-ui");
mkdirSync(to, { recursive: true });
for (const file of FILES) copyFileSync(join(from, file), join(to, file));
for (const file of LARGE_FILES)
  writeFileSync(join(to, `${file}.br`), brotliCompressSync(readFileSync(join(from, file))));

// Copies what /docs serves of Swagger UI into dist: its package would bring install telemetry to those who install ours.
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";

const FILES = [
  "swagger-ui.css",
  "swagger-ui-bundle.js",
  "swagger-ui-bundle.js.LICENSE.txt",
  "favicon-32x32.png",
  "LICENSE",
  "NOTICE",
];

const from = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
const to = join(import.meta.dirname, "../dist/swagger-ui");
mkdirSync(to, { recursive: true });
for (const file of FILES) copyFileSync(join(from, file), join(to, file));

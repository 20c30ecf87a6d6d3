/** Interactive API documentation: Swagger UI with accessibility fixes. */
import { createReadStream, existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream";
import { createBrotliDecompress } from "node:zlib";
import express, { type Request, type RequestHandler, type Response, type Router } from "express";
import { packageFile } from "../support/own-package.js";

// All paths are relative, so that the page works under any mount prefix.
const PAGE = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>graph-serve API</title>
<link rel="icon" href="./favicon-32x32.png">
<link rel="stylesheet" href="./swagger-ui.css">
<link rel="stylesheet" href="./page.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="./swagger-ui-bundle.js"></script>
<script type="module" src="./page.js"></script>
</body>
</html>
`;

/** Colors with sufficient contrast. */
const STYLE = `
body { margin: 0; }
.swagger-ui .scheme-container:not(:has(.auth-wrapper)) { display: none; }
.swagger-ui .info .title small { background: #5b6270; }
.swagger-ui .info .title small.version-stamp { background: #4c6b02; }
.swagger-ui a, .swagger-ui .info a, .swagger-ui .info hgroup.main a,
.swagger-ui .info .base-url, .swagger-ui .info .url { color: #1f5fb8; }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1b62b5; }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #14733f; }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background: #96540a; }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #0c6f62; }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #bf1d1d; }
.swagger-ui .btn.authorize { color: #14733f; border-color: #14733f; }
.swagger-ui .btn.authorize svg { fill: #14733f; }
.swagger-ui .btn.cancel { color: #bf1d1d; border-color: #bf1d1d; }
.swagger-ui .btn.execute { background: #1b62b5; border-color: #1b62b5; }
.swagger-ui .download-contents { background: #5b6270; }
.swagger-ui .parameter__in, .swagger-ui .parameter__type, .swagger-ui .prop-format { color: #5b5b5b; }
.swagger-ui .json-schema-2020-12-expand-deep-button { color: #5b5b5b; }
@media (prefers-reduced-motion: reduce) {
  .swagger-ui * { transition: none !important; animation: none !important; }
}
`;

const SCRIPT = `
// A button must not contain a link or another button.
const withoutNesting = ({ React }) => ({
  components: {
    DeepLink: ({ text }) => React.createElement("span", null, text),
    CopyToClipboardBtn: () => null,
    // There is only this server.
    ServersContainer: () => null,
  },
});

SwaggerUIBundle({
  url: "../openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [withoutNesting],
});

const page = document.getElementById("swagger-ui");
const each = (selector, mend) => page.querySelectorAll(selector).forEach(mend);
const name = (element, text) => element.setAttribute("aria-label", text);

// Adds missing labels and heading levels to rendered elements.
function mend() {
  each("h3:not([aria-level])", (heading) => heading.setAttribute("aria-level", "2"));
  each("h4:not([aria-level])", (heading) => heading.setAttribute("aria-level", "3"));
  each("h5:not([aria-level])", (heading) => heading.setAttribute("aria-level", "4"));
  each("tr[data-param-name] :is(select, input, textarea):not([aria-label])", (field) =>
    name(field, field.closest("tr").dataset.paramName));
  each(".body-param__text:not([aria-label])", (field) => name(field, "Request body"));
  each(".responses-table[role=region]:not([aria-label])", (table) => name(table, "Responses: " + table.id));
  each(".information-container:not([role])", (head) => head.setAttribute("role", "banner"));
  each("pre:not(.version, [tabindex])", (code) => (code.tabIndex = 0));
  each(".close-modal:not([aria-label])", (button) => name(button, "Close"));
  each(".dialog-ux:not([role])", (dialog) => {
    dialog.setAttribute("role", "dialog");
    name(dialog, "Authorization");
  });
  // Their visible text is a better label, or they need none.
  each(".modal-btn[aria-label], div.copy-to-clipboard[aria-label]", (each) => each.removeAttribute("aria-label"));
}
new MutationObserver(mend).observe(page, { childList: true, subtree: true });
`;

// Only files of this package are served; the page loads nothing from other hosts.

/** Files of Swagger UI that the page uses. */
const ASSETS = ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"];

const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export function docs(): RequestHandler {
  const router = express.Router();
  router.get("/", redirectToFolder, page("html", PAGE));
  router.get("/page.css", page("css", STYLE));
  router.get("/page.js", page("js", SCRIPT));
  serveAssets(router);
  return router;
}

/** The page's paths are relative to its folder. */
const redirectToFolder: RequestHandler = (req, res, next) => {
  if (req.originalUrl.split("?", 1)[0]?.endsWith("/")) next();
  else res.redirect(301, "docs/");
};

const page =
  (type: string, text: string): RequestHandler =>
  (_req, res) => {
    res.setHeader("Content-Security-Policy", CONTENT_POLICY);
    res.type(type).send(text);
  };

function serveAssets(router: Router): void {
  let root: string | undefined;
  for (const name of ASSETS)
    router.get(`/${name}`, (req, res) => sendAsset(req, res, name, (root ??= assetFolder())));
}

/** A build keeps large files only compressed, which makes the package 100 KB smaller. */
function sendAsset(req: Request, res: Response, name: string, root: string): void {
  const compressed = `${name}.br`;
  if (!existsSync(join(root, compressed))) return res.sendFile(name, { root });
  res.type(name).vary("Accept-Encoding");
  if (req.acceptsEncodings("br", "identity") === "br") {
    res.setHeader("Content-Encoding", "br");
    return res.sendFile(compressed, { root });
  }
  // A client that disconnects ends both streams, and needs no answer.
  pipeline(createReadStream(join(root, compressed)), createBrotliDecompress(), res, () => undefined);
}

/** A build contains a copy; an unbuilt checkout uses the files of the package. */
function assetFolder(): string {
  const copy = packageFile("dist/swagger-ui");
  if (existsSync(copy)) return copy;
  return dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
}

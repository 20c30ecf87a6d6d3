/** Interactive documentation, from the installed package alone: nothing is fetched from elsewhere. */
import express, { type RequestHandler, type Router } from "express";

// All paths are relative, so that the page works under any mount prefix.
const DOCUMENT_URL = "../openapi.json";

const PAGE = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>graph-serve API</title>
<link rel="icon" href="./favicon-32x32.png">
<link rel="stylesheet" href="./swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="./swagger-ui-bundle.js"></script>
<script src="./swagger-ui-standalone-preset.js"></script>
<script src="./swagger-ui-init.js"></script>
</body>
</html>
`;
const CONTENT_POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:";

// The package's own start page, which shows a document on somebody else's server.
const FOREIGN_FILES = ["/index.html", "/swagger-initializer.js"];

/** Serves the documentation; its packages are loaded by the first request. */
export function docs(): RequestHandler {
  let router: Promise<Router> | undefined;
  return async (req, res, next) => {
    if (req.path === "/" && !req.originalUrl.split("?", 1)[0]?.endsWith("/"))
      return res.redirect(301, "docs/");
    router ??= openDocs();
    (await router)(req, res, next);
  };
}

async function openDocs(): Promise<Router> {
  const { default: swaggerUi } = await import("swagger-ui-express");
  const router = express.Router();
  router.get("/", (_req, res) => {
    res.setHeader("Content-Security-Policy", CONTENT_POLICY);
    res.type("html").send(PAGE);
  });
  router.use(FOREIGN_FILES, (_req, _res, next) => next("router"));
  const swaggerOptions = { validatorUrl: null, tryItOutEnabled: true };
  router.use(swaggerUi.serveFiles(undefined, { swaggerUrl: DOCUMENT_URL, swaggerOptions }));
  return router;
}

import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { serve } from "../helpers/app.js";
import { fakeService } from "../helpers/fake-service.js";

describe("the documentation page", () => {
  it("the page loads local files only", async () => {
    const { request } = await serve(fakeService());
    const { headers, text } = await request("GET", "/docs/");
    expect(headers.get("content-type")).toContain("text/html");
    const sources = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(sources.length).toBeGreaterThan(3);
    for (const source of sources) expect((await request("GET", `/docs/${source}`)).status, source).toBe(200);
  });

  it("the CSP forbids inline scripts, inline styles and framing", async () => {
    const { request } = await serve(fakeService());
    const policy = (await request("GET", "/docs/")).headers.get("content-security-policy");
    const directives = new Map(
      policy?.split("; ").map((part): [string, string] => {
        const [name = "", ...sources] = part.split(" ");
        return [name, sources.join(" ")];
      }),
    );
    expect(Object.fromEntries(directives)).toMatchObject({
      "default-src": "'none'",
      "script-src": "'self'",
      "style-src": "'self'",
      "connect-src": "'self'",
      "base-uri": "'none'",
      "frame-ancestors": "'none'",
    });
    expect(policy).not.toContain("unsafe");
  });

  it("the page shows our OpenAPI document and calls no validator service", async () => {
    const { request } = await serve(fakeService());
    const { text } = await request("GET", "/docs/page.js");
    expect(text).toContain('url: "../openapi.json"');
    expect(text).toContain("validatorUrl: null");
  });

  it.each([
    "/docs/index.html",
    "/docs/swagger-initializer.js",
    "/docs/package.json",
    "/docs/swagger-ui-bundle.js.map",
    "/docs/nope.js",
    "/docs/..%2fpackage.json",
  ])("%s returns 404", async (path) => {
    const { request } = await serve(fakeService());
    const { status, text } = await request("GET", path);
    expect(status).toBe(404);
    expect(text).not.toContain("petstore");
  });

  it("/docs redirects to /docs/", async () => {
    const { request } = await serve(fakeService());
    expect((await request("GET", "/docs")).text).toContain("swagger-ui");
  });
});

describe("install telemetry", () => {
  it("production dependencies contain no install telemetry", async () => {
    const lock = JSON.parse(await readFile("package-lock.json", "utf8")) as {
      packages: Record<string, { dev?: boolean; hasInstallScript?: boolean }>;
    };
    const installed = Object.entries(lock.packages).filter(([, { dev }]) => !dev);
    const names = installed.map(([path]) => path.replace(/^.*node_modules\//, ""));
    expect(names).toContain("express");
    expect(names.filter((name) => /scarf|swagger-ui/.test(name))).toEqual([]);
    const runOnInstall = installed.filter(([path, { hasInstallScript }]) => path !== "" && hasInstallScript);
    expect(runOnInstall.map(([path]) => path)).toEqual(["node_modules/better-sqlite3"]);
  });

  it("install telemetry is off for this project", async () => {
    const { scarfSettings } = JSON.parse(await readFile("package.json", "utf8")) as { scarfSettings: object };
    expect(scarfSettings).toEqual({ enabled: false });
  });
});

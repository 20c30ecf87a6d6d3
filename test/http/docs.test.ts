import { describe, expect, it } from "vitest";
import { serve } from "../helpers/app.js";
import { fakeService } from "../helpers/fake-service.js";

describe("documentation", () => {
  it("is a page of local files alone", async () => {
    const { request } = await serve(fakeService());
    const { headers, text } = await request("GET", "/docs/");
    expect(headers.get("content-type")).toContain("text/html");
    expect(headers.get("content-security-policy")).toContain("default-src 'self'");
    const sources = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(sources.length).toBeGreaterThan(3);
    for (const source of sources) expect((await request("GET", `/docs/${source}`)).status, source).toBe(200);
  });

  it("shows our document and asks no validator", async () => {
    const { request } = await serve(fakeService());
    const { text } = await request("GET", "/docs/swagger-ui-init.js");
    expect(text).toContain('"swaggerUrl": "../openapi.json"');
    expect(text).toContain('"validatorUrl": null');
  });

  it.each(["/docs/index.html", "/docs/swagger-initializer.js", "/docs/package.json", "/docs/nope.js"])(
    "has no %s",
    async (path) => {
      const { request } = await serve(fakeService());
      const { status, text } = await request("GET", path);
      expect(status).toBe(404);
      expect(text).not.toContain("petstore");
    },
  );

  it("redirects to its folder", async () => {
    const { request } = await serve(fakeService());
    expect((await request("GET", "/docs")).text).toContain("swagger-ui");
  });
});

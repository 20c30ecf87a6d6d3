import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { cli, createProject, type Project } from "./harness.js";

let project: Project;
beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

const openapi = (...argv: string[]) => cli(["openapi", ...argv], { cwd: project.dir });

describe("openapi", () => {
  it("the document is printed on stdout", async () => {
    const { code, stdout } = await openapi();
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ openapi: "3.1.0" });
  });

  it("--yaml prints the same document", async () => {
    const { stdout } = await openapi("--yaml");
    expect(parse(stdout)).toEqual(JSON.parse((await openapi()).stdout));
  });

  it("a file written by --out passes --check", async () => {
    expect(await openapi("--out", "openapi.json")).toMatchObject({ code: 0, stdout: "" });
    expect(await openapi("--check", "openapi.json")).toMatchObject({ code: 0 });
    expect(await openapi("--yaml", "--out", "openapi.yaml")).toMatchObject({ code: 0 });
    expect(await openapi("--check", "openapi.yaml")).toMatchObject({ code: 0 });
  });

  it("--check lists the differences", async () => {
    const document = JSON.parse((await openapi()).stdout) as {
      paths: Record<string, unknown>;
      info: { title: string };
    };
    delete document.paths["/info"];
    document.info.title = "Another";
    document.paths["/extra"] = {};
    await project.put("openapi.json", document);
    const { code, stdout } = await openapi("--check", "openapi.json");
    expect(code).toBe(1);
    expect(stdout).toContain("/info/title changed");
    expect(stdout).toContain("/paths/~1info is missing from the file");
    expect(stdout).toContain("/paths/~1extra exists only in the file");
  });

  it("a missing file exits with code 2", async () => {
    const { code, stderr } = await openapi("--check", "nowhere.json");
    expect(code).toBe(2);
    expect(stderr).toContain("nowhere.json cannot be read");
    expect(stderr).toMatch(/fix {2}write it: graph-serve openapi --out \S+nowhere\.json\n$/);
  });

  it("the written file ends with a newline", async () => {
    await openapi("--out", "openapi.json");
    expect(await readFile(join(project.dir, "openapi.json"), "utf8")).toMatch(/\}\n$/);
  });
});

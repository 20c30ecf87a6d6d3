/** JSON files with the byte order mark that tools on Windows write. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { createThreadProject, type ThreadProject } from "./thread-fixture.js";

const MARK = "\uFEFF";

let project: ThreadProject;
beforeAll(async () => {
  project = await createThreadProject("hello");
});
afterAll(() => project.remove());

/** Adds a mark to what a command prints, in a file. */
async function marked(name: string, ...argv: string[]): Promise<void> {
  await writeFile(join(project.dir, name), MARK + (await project.run(argv)).stdout);
}

describe("a byte order mark", () => {
  it("is accepted in the input of run", async () => {
    await writeFile(join(project.dir, "input.json"), `${MARK}{ "messages": [] }\r\n`);
    expect(await project.run(["run", "--input", "@input.json", "--quiet"])).toMatchObject({ code: 0 });
  });

  it("is accepted in an exported thread", async () => {
    await marked("thread.json", "export", project.threadId);
    expect(await project.run(["import", "thread.json", "--as", "new"])).toMatchObject({ code: 0 });
  });

  it("is accepted by diff, graph --check and openapi --check", async () => {
    await marked("values.json", "inspect", "state", project.threadId);
    await marked("graph.mmd", "graph", "--format", "mermaid");
    await writeFile(join(project.dir, "openapi.json"), MARK + (await project.bare(["openapi"])).stdout);
    const commands = [
      ["diff", "values.json", project.threadId, "--exit-code"],
      ["graph", "--check", "graph.mmd"],
    ];
    for (const argv of commands) expect(await project.run(argv)).toMatchObject({ code: 0 });
    expect(await project.bare(["openapi", "--check", "openapi.json"])).toMatchObject({ code: 0 });
  });
});

/** A file that another process has locked: SQLite waits ten seconds for it. */
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { app } from "../fixtures/graphs/sqlite-saver-app.js";
import { Database } from "../helpers/sqlite-database.js";
import { withSqliteSaver } from "../helpers/sqlite-saver.js";
import { cli, createProject } from "./harness.js";

await withSqliteSaver("a locked file of SqliteSaver", (SqliteSaver) => {
  it("migrate copy names it, and how to unlock it", { timeout: 60_000 }, async () => {
    const project = await createProject();
    onTestFinished(() => project.remove());
    const file = join(project.dir, "app.db");
    const saver = SqliteSaver.fromConnString(file);
    await app.compile({ checkpointer: saver }).invoke({ log: ["hi"] }, { configurable: { thread_id: "1" } });
    saver.db.close();
    const locker = new Database(file);
    onTestFinished(() => void locker.close());
    locker.pragma("locking_mode = EXCLUSIVE");
    locker.exec("BEGIN IMMEDIATE; DELETE FROM writes");
    const argv = [
      "migrate",
      "copy",
      "--from",
      "sqlite-saver://./app.db",
      "--to",
      "./to.db",
      "--graph",
      "agent",
    ];
    const { code, stderr } = await cli(argv, { cwd: project.dir });
    expect(code).toBe(3);
    expect(stderr).toContain(`another process has kept it locked for 10 s: ${file}`);
    expect(stderr).toContain("end the process that holds a transaction open on the file");
  });
});

/** A small disk of the test's own, which it may fill and make read-only: a tmpfs, so only root has one, on Linux. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class TestDisk {
  readonly folder: string;
  /** Files that are mounts of their own. */
  readonly #bound: string[] = [];

  /** @throws when this process may not mount anything */
  constructor(megabytes: number) {
    this.folder = mkdtempSync(join(tmpdir(), "graph-serve-disk-"));
    try {
      mount("-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", this.folder);
    } catch (error) {
      rmSync(this.folder, { recursive: true });
      throw error;
    }
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Use up all space; `free` gives it back. */
  fill(): void {
    const file = openSync(this.path("ballast"), "a");
    const block = Buffer.alloc(4096);
    try {
      for (;;) writeSync(file, block);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(this.path("ballast"), { force: true });
  }

  /** Everything on it, or one file of it; no file may be open for writing. */
  makeReadOnly(name?: string): void {
    if (name === undefined) return mount("-o", "remount,ro", this.folder);
    mount("--bind", this.path(name), this.path(name));
    this.#bound.push(this.path(name));
    mount("-o", "remount,bind,ro", this.path(name));
  }

  makeWritable(): void {
    for (const file of this.#bound.splice(0)) execFileSync("umount", [file]);
    mount("-o", "remount,rw", this.folder);
  }

  remove(): void {
    for (const place of [...this.#bound.splice(0), this.folder]) execFileSync("umount", ["--lazy", place]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const mount = (...args: string[]): void => void execFileSync("mount", args, { stdio: "pipe" });

/** Why there can be no such disk here; undefined when there can. */
export const noDisk = ((): string | undefined => {
  try {
    new TestDisk(1).remove();
    return undefined;
  } catch (error) {
    return `mount is refused (${String((error as Error).message).split("\n")[0]})`;
  }
})();

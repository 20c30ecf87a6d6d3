/** A small tmpfs that a test can fill and make read-only. Requires root on Linux. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class TestDisk {
  readonly folder: string;
  /** Files that are bind mounts. */
  readonly #bound: string[] = [];

  /** @throws if this process may not mount */
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

  /** Uses up all space; `free` releases it. */
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

  /** Makes the disk or one file on it read-only. No file may be open for writing. */
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

/** Why no disk can be mounted on this machine; undefined if one can. */
export const noDisk = ((): string | undefined => {
  try {
    new TestDisk(1).remove();
    return undefined;
  } catch (error) {
    return `mount is refused (${String((error as Error).message).split("\n")[0]})`;
  }
})();

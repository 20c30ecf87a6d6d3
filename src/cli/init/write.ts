import { access, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ProjectFile } from "./files.js";

/** Those of `files` that `folder` has already. */
export async function existingFiles(folder: string, files: readonly ProjectFile[]): Promise<ProjectFile[]> {
  const present = await Promise.all(
    files.map(({ path }) =>
      access(join(folder, path)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return files.filter((_file, index) => present[index]);
}

export async function writeFiles(folder: string, files: readonly ProjectFile[]): Promise<void> {
  for (const { path, content } of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}

/** The declared capabilities of storages match what they open, the settings, and the table of docs/storage.md. */
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { capabilitiesOf, schemesWith } from "../../src/config/storage-capabilities.js";
import { STORAGE_SCHEMES } from "../../src/storage/open.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";

onEveryBackend("capabilities", (backend) => {
  it("say whether the storage can hold a queue", async () => {
    const storage = await keptStorage(backend());
    const declared = capabilitiesOf(backend().settings.checkpointer_scheme);
    expect(declared === undefined).toBe(backend().name === "a custom storage");
    expect(storage.openQueue !== undefined).toBe(declared?.queue ?? false);
  });

  it("say whether the storage can keep recordings", async () => {
    const storage = await keptStorage(backend());
    const declared = capabilitiesOf(backend().settings.checkpointer_scheme);
    expect(storage.recordings !== undefined).toBe(declared?.recordings ?? false);
  });
});

it("are documented for every scheme: one process or several", async () => {
  const docs = await readFile("docs/storage.md", "utf8");
  const rows = docs.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  for (const scheme of STORAGE_SCHEMES) {
    const [, , , processes = ""] = rows.find(([, names]) => names?.includes(`\`${scheme}\``)) ?? [];
    expect(processes, scheme).toMatch(capabilitiesOf(scheme)?.shared ? /^several/ : /^one/);
  }
});

it("name the schemes that an error suggests", () => {
  expect(schemesWith("shared")).toBe("postgres or mongodb");
  expect(schemesWith("queue")).toBe("postgres");
  expect(schemesWith("recordings")).toBe("sqlite or postgres or mongodb");
});

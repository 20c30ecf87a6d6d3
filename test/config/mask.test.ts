import { describe, expect, it } from "vitest";
import { maskSettings } from "../../src/config/settings.js";
import { defaultSettings } from "../../src/config/settings.js";
import { maskPasswords } from "../../src/support/secrets.js";

describe("masking", () => {
  it.each([
    ["postgres://user:pa@ss@db:5432/x", "postgres://user:********@db:5432/x"],
    ["redis://:secret@db", "redis://:********@db"],
    ["postgres://u:a/b@db/x", "postgres://u:********@db/x"],
    ["mongodb://db/x?password=abc&w=1", "mongodb://db/x?password=********&w=1"],
    ["./threads.db", "./threads.db"],
  ])("passwords in %s are masked", (text, masked) => {
    expect(maskPasswords(text)).toBe(masked);
  });

  it("secret options and variables are masked", () => {
    const settings = {
      ...defaultSettings(),
      checkpointer_options: { pool_max_size: 2, ssl: { passphrase: "hush" } },
      env: { OPENAI_API_KEY: "sk-1", MODEL: "x" },
      api_keys: ["plain-key", { name: "chat", key: "named-key" }],
    };
    expect(maskSettings(settings)).toMatchObject({
      checkpointer_options: { pool_max_size: 2, ssl: { passphrase: "********" } },
      env: { OPENAI_API_KEY: "********", MODEL: "********" },
      api_keys: ["********", { name: "chat", key: "********" }],
      port: 2024,
    });
  });
});

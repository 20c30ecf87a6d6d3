import { describe, expect, it } from "vitest";
import { MASK, maskPasswords, maskSecrets, namesSecret } from "../src/support/secrets.js";
import { cpuMs } from "./helpers/cpu-time.js";

const SECRET =
  "key Key apiKey openaiApiKey OPENAI_API_KEY APIKey x-api-key apikey api_keys token accessToken access_tokens " +
  "authtoken secret clientSecret clientsecret password db.password dbPassword passwd passphrase authorization " +
  "Authorization proxy-authorization auth oauth basicAuth jwt bearer cookie cookies credential credentials token2";
const HARMLESS =
  "max_tokens maxTokens token_count tokenCount token_limit completion_tokens total_tokens token_usage key_prefix " +
  "token_type keyboard monkey turkey hotkey keynote tokenizer secretary author authority thread_id user model s 7 _";

describe("namesSecret", () => {
  it.each(SECRET.split(" "))("%s is a secret name", (name) => {
    expect(namesSecret(name)).toBe(true);
  });

  it.each(["", ...HARMLESS.split(" ")])("%s is not a secret name", (name) => {
    expect(namesSecret(name)).toBe(false);
  });

  it("a string too long for a name is treated as a secret name", () => {
    expect(namesSecret("x".repeat(300))).toBe(true);
  });
});

describe("masked values", () => {
  it("strings under secret names are masked at any depth, and nothing else", () => {
    const value = {
      api_key: "sk-1",
      password: 4711,
      token: null,
      credentials: { user: "me", pins: ["1", 2, true] },
      list: [{ secret: "s", open: "o" }],
      open: "to all",
    };
    expect(maskSecrets(value)).toEqual({
      api_key: MASK,
      password: 4711,
      token: null,
      credentials: { user: MASK, pins: [MASK, 2, true] },
      list: [{ secret: MASK, open: "o" }],
      open: "to all",
    });
    expect(value.api_key).toBe("sk-1");
  });

  it("a __proto__ key stays a plain key", () => {
    const masked = maskSecrets(JSON.parse('{"__proto__":{"token":"t"}}') as object);
    expect(JSON.stringify(masked)).toBe(`{"__proto__":{"token":"${MASK}"}}`);
  });

  it("only the passwords of several URIs in a string are masked", () => {
    expect(maskPasswords("from a://u:p@h/x to b://v:q/r@h, c://w@h?token=t&x=1, d://h:80/y e://:p@h")).toBe(
      `from a://u:${MASK}@h/x to b://v:${MASK}@h, c://w@h?token=${MASK}&x=1, d://h:80/y e://:${MASK}@h`,
    );
  });

  it.each(["a", "a://", "a://:", "a://u:p@", "a://u:p", "a://:@/", "?token=", "1", "A", "aA"])(
    "a megabyte of %s is masked in under two seconds of CPU time",
    (part) => {
      const text = part.repeat(1_000_000 / part.length);
      const start = cpuMs();
      maskPasswords(text);
      namesSecret(text);
      namesSecret(text.slice(0, 256));
      expect(cpuMs() - start).toBeLessThan(2_000);
    },
  );
});

/** Settings that say which web pages may call; part of ./settings.ts. */
import { Type } from "@sinclair/typebox";

const texts = (description: string, value: string[]) =>
  Type.Optional(Type.Array(Type.String(), { description, default: value }));

export const corsSettings = {
  cors_origins: texts(
    "Origins whose pages may call, such as https://chat.example.com; loopback is any of this machine, * is any at all.",
    ["loopback"],
  ),
  cors_origin_regex: Type.Optional(
    Type.String({ minLength: 1, description: "Pattern of further origins; the whole origin must match." }),
  ),
  cors_methods: texts("Methods that pages may use.", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]),
  cors_headers: texts("Request headers that pages may send; those asked for when empty.", []),
  cors_expose_headers: texts("Headers of answers that pages may read, besides those of the interface.", []),
  cors_credentials: Type.Optional(
    Type.Boolean({ default: false, description: "Let pages send cookies and other credentials." }),
  ),
  cors_max_age: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        "Seconds that browsers may keep the answer of a preflight; theirs to choose when left out.",
    }),
  ),
};

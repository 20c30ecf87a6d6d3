/** Settings that say who may call; part of ./settings.ts. */
import { Type } from "@sinclair/typebox";

/** Printable ASCII: what arrives unchanged in a header. */
const Key = Type.String({ minLength: 8, pattern: "^[\\x21-\\x7e]+$", description: "The key." });

const NamedKey = Type.Object(
  {
    name: Type.String({ minLength: 1, description: "What the access log calls the key." }),
    key: Key,
  },
  { additionalProperties: false },
);

/** Routes that may be open to callers without a key or an identity. */
const OPENABLE_ROUTES = [
  "/ok",
  "/ready",
  "/info",
  "/api/health",
  "/api/initial-message",
  "/docs",
  "/openapi.json",
  "/metrics",
] as const;

export const accessSettings = {
  api_keys: Type.Optional(
    Type.Array(Type.Union([Key, NamedKey]), {
      minItems: 1,
      description:
        "Keys, or {name, key}; requests send one as x-api-key or Authorization: Bearer. None is asked for when left out.",
    }),
  ),
  auth: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        "Function that verifies who sends a request, such as ./auth.ts:authenticate; users then have threads and memory of their own.",
    }),
  ),
  open_routes: Type.Optional(
    Type.Array(
      Type.Unsafe<(typeof OPENABLE_ROUTES)[number]>({ type: "string", enum: [...OPENABLE_ROUTES] }),
      {
        default: ["/ok", "/ready", "/info", "/api/health"],
        description: `Routes that need neither key nor identity, of ${OPENABLE_ROUTES.join(", ")}.`,
      },
    ),
  ),
};

/** The setting that enables webhooks. */
import { Type } from "../support/schema-builder.js";

export const webhookSettings = {
  webhooks: Type.Optional(
    Type.Object(
      {
        secret: Type.String({
          minLength: 1,
          description: "Signing secret: whsec_ followed by 24 to 64 bytes in base64.",
        }),
        hosts: Type.Optional(
          Type.Array(Type.String({ minLength: 1 }), {
            description: "Allowed hosts, such as hooks.example.com or *.example.com. Default: all hosts.",
          }),
        ),
        allow_private: Type.Optional(
          Type.Array(Type.String({ minLength: 1 }), {
            description: "Allowed addresses that are not public, such as 10.0.0.0/8 or 127.0.0.1.",
          }),
        ),
      },
      {
        additionalProperties: false,
        description: "Accept runs with `webhook`, and post their result to that URL (docs/webhooks.md).",
      },
    ),
  ),
};

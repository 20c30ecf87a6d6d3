/** The setting that turns webhooks on; part of ./settings.ts. */
import { Type } from "@sinclair/typebox";

export const webhookSettings = {
  webhooks: Type.Optional(
    Type.Object(
      {
        secret: Type.String({
          minLength: 1,
          description: "What they are signed with: whsec_ and 24 to 64 bytes as base64.",
        }),
        hosts: Type.Optional(
          Type.Array(Type.String({ minLength: 1 }), {
            description:
              "Hosts that they may go to, such as hooks.example.com or *.example.com; all when left out.",
          }),
        ),
        allow_private: Type.Optional(
          Type.Array(Type.String({ minLength: 1 }), {
            description:
              "Addresses that they may go to though they are not public, such as 10.0.0.0/8 or 127.0.0.1.",
          }),
        ),
      },
      {
        additionalProperties: false,
        description: "Take runs with `webhook`, and post how they ended there (docs/webhooks.md).",
      },
    ),
  ),
};

import type { Static } from "@sinclair/typebox";
import { Type } from "../support/schema-builder.js";
import { AnyObject, Opt } from "./common.js";

const NodeInput = Type.Object(
  {
    node: Type.String({ description: "Node to go to." }),
    input: Type.Unknown({ description: "Input of that node." }),
  },
  { description: "A node with its own input." },
);
const GotoTarget = Type.Union([Type.String(), NodeInput]);

/** A key and a value. JSON Schema 2020-12 expresses a tuple with `prefixItems`. */
const Entry = Type.Unsafe<[string, unknown]>({
  type: "array",
  prefixItems: [Type.String(), Type.Unknown()],
  items: false,
  minItems: 2,
  maxItems: 2,
});

export const CommandModel = Type.Object(
  {
    update: Opt(Type.Union([AnyObject(), Type.Array(Entry)]), {
      description: "State update: an object, or pairs of key and value.",
    }),
    resume: Type.Optional(
      Type.Unknown({ description: "Answer to the open interrupt, or a map of interrupt id to answer." }),
    ),
    goto: Opt(Type.Union([GotoTarget, Type.Array(GotoTarget)]), {
      description: "Node or nodes to go to, each a name or {node, input}.",
    }),
  },
  { title: "CommandModel", description: "Resumes or steers a graph." },
);
export type CommandRequest = Static<typeof CommandModel>;

/** commander's classes, under the types that know the flags of each command. */
import * as commander from "commander";
import type * as typed from "@commander-js/extra-typings";

// The package of the types is for development: at run time it would resolve the commander of the project that graph-serve
// is installed in, which may be an older one.
export const { Argument, Command, Option } = commander as unknown as Pick<
  typeof typed,
  "Argument" | "Command" | "Option"
>;

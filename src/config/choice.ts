import { Type } from "../support/schema-builder.js";

/** A setting with one of these values, by default the first. */
export const choice = <T extends string>(
  [first, ...others]: readonly [T, ...T[]],
  description: string,
  preset: T = first,
) =>
  Type.Optional(Type.Unsafe<T>({ type: "string", enum: [first, ...others], default: preset, description }));

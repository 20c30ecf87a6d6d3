import type { Printer } from "../print.js";
import { clipped } from "./text.js";

export type Field = readonly [name: string, value: string | undefined];

const LABEL_WIDTH = 10;

/** Name and value, a line each; fields without a value are left out. */
export function printFields(print: Printer, fields: readonly Field[]): void {
  for (const [name, value] of fields) {
    if (value === undefined || value === "") continue;
    const room = Math.max(8, print.width - LABEL_WIDTH - 1);
    print.data(`${print.colors.dim(name.padEnd(LABEL_WIDTH))} ${clipped(value, room)}`);
  }
}

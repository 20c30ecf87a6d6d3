/** Source of the lines that graphs print, such as the name of a case. */
import { AsyncLocalStorage } from "node:async_hooks";

const printer = new AsyncLocalStorage<string>();

/** Attributes the output of `work` to a source. */
export function withOutputSource<T>(name: string, work: () => Promise<T>): Promise<T> {
  return printer.run(name, work);
}

/** Source of the current output; undefined if unknown. */
export const currentOutputSource = (): string | undefined => printer.getStore();

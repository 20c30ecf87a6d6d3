/** Whose the lines are that graphs print, such as those of a case. */
import { AsyncLocalStorage } from "node:async_hooks";

const printer = new AsyncLocalStorage<string>();

/** What `work` prints is printed in this name. */
export function withOutputSource<T>(name: string, work: () => Promise<T>): Promise<T> {
  return printer.run(name, work);
}

/** The source of the current output; undefined if unknown. */
export const currentOutputSource = (): string | undefined => printer.getStore();

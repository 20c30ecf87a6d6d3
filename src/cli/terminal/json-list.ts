import type { Printer } from "./print.js";

/**
 * Prints a list while it is read: `{"items": [...], "next": ...}` with `--json`, one line per item with `--jsonl`. Holds
 * one item in memory. `next` is called after the list ended.
 */
export async function printJsonList<T>(
  print: Printer,
  items: AsyncIterable<T> | Iterable<T>,
  next: () => string | number | null = () => null,
): Promise<void> {
  if (print.flags.jsonl) {
    for await (const item of items) {
      print.json(item);
      await print.drained();
    }
    return;
  }
  let isFirst = true;
  for await (const item of items) {
    print.part(isFirst ? '{\n  "items": [\n' : ",\n");
    print.part(indented(print.jsonText(item)));
    isFirst = false;
    await print.drained();
  }
  print.part(isFirst ? '{\n  "items": []' : "\n  ]");
  print.data(`,\n  "next": ${JSON.stringify(next())}\n}`);
}

const indented = (text: string): string => text.replace(/^/gm, "    ");

/**
 * Prints a document with a list as its last field, while the list is read; on one line with `--jsonl`. `head` contains
 * the fields before it, at least one.
 */
export async function printJsonWithList(
  print: Printer,
  head: object,
  name: string,
  items: AsyncIterable<unknown>,
): Promise<void> {
  const isLine = print.flags.jsonl === true;
  const [open, between, close] = isLine
    ? [`,"${name}":[`, ",", "]}"]
    : [`,\n  "${name}": [`, ",\n", "\n  ]\n}"];
  print.part(print.jsonText(head).replace(/\n?\}$/, "") + open);
  let isFirst = true;
  for await (const item of items) {
    const text = print.jsonText(item);
    if (!isFirst) print.part(between);
    print.part(isLine ? text : (isFirst ? "\n" : "") + indented(text));
    isFirst = false;
    await print.drained();
  }
  print.data(isFirst ? "]" + (isLine ? "}" : "\n}") : close);
}

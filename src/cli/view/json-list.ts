import type { Printer } from "../print.js";

/**
 * Print a list as it is read: `{"items": [...], "next": ...}` with `--json`, a line an item with `--jsonl`. No more
 * than one item is held at a time. `next` is asked for when the list has ended.
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

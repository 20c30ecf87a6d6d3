import { ODD_KEYS } from "./data.js";
import type { Recorder } from "./recorder.js";

/** Uses the store that threads share. */
export async function remember({ ask }: Recorder): Promise<void> {
  const put = (namespace: string[], key: string, value: object) =>
    ask("PUT /store/items", { namespace, key, value });
  await put(["users", "ada"], "likes", { tea: true, ...ODD_KEYS });
  await put(["users", "ada"], "likes", { tea: false, n: 2 });
  await put(["users", "bo"], "$where", { n: 1 });
  await put(["users"], "", { n: 3 });
  await ask("GET /store/items?namespace=users.ada&key=likes");
  await ask("GET /store/items?namespace=users.bo&key=%24where");
  await ask("GET /store/items?namespace=users.bo&key=likes");
  await ask("POST /store/items/search", { namespace_prefix: ["users"] });
  await ask("POST /store/items/search", { namespace_prefix: ["users"], filter: { n: { $gte: 2 } } });
  await ask("POST /store/items/search", { namespace_prefix: ["users"], limit: 1, offset: 1 });
  await ask("POST /store/namespaces", { prefix: ["users"] });
  await ask("DELETE /store/items", { namespace: ["users"], key: "" });
  await ask("POST /store/items/search", { namespace_prefix: [] });
}

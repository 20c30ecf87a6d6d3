/** State of the composer: the input and its view, run options, and earlier inputs. */
import { computed, effect, signal } from "@preact/signals";
import { isRecord, type JsonObject } from "../../src/models/json.js";
import type { Run } from "../../src/models/run.js";
import type { PathStep } from "../../src/models/value-path.js";
import { ask } from "../api.js";
import { stops } from "./breakpoints.js";
import type { RunWish } from "./copy-as.js";
import type { FieldFaults } from "../components/schema-form.js";
import { createdThread, picture, refusal, threadId } from "./conversation.js";
import { Draft, messageOf, withMessage } from "./draft.js";
import { fileOf } from "./files.js";
import { graphId, schemas } from "./graphs.js";
import { shapeOf, takesMessages } from "./shape.js";
import { tabList } from "./tab.js";
import { keepUnsent, storeUnsent, type Unsent, unsentOf } from "./unsent.js";
import { schemaIssues } from "./schema-issues.js";

const FACES = ["message", "form", "json"] as const;
export type Face = (typeof FACES)[number];

export const input = new Draft();
export const configurable = new Draft();
export const context = new Draft();

const inputSchema = computed(() => schemas.value.value?.input_schema);
export const inputShape = computed(() => shapeOf(inputSchema.value));
export const hasForm = computed(() => inputShape.value.kind === "object");
export const hasMessages = computed(() => takesMessages(inputSchema.value));
export const contextShape = computed(() => shapeOf(schemas.value.value?.context_schema));
export const configShape = computed(() => shapeOf(schemas.value.value?.config_schema));

const chosen = signal<Face | undefined>(undefined);
/** The selected view, if the graph supports it. */
export const face = computed<Face>(() => {
  const faces = FACES.filter((each) =>
    each === "message" ? hasMessages.value : each === "json" || hasForm.value,
  );
  return faces.find((each) => each === chosen.value) ?? faces[0] ?? "json";
});
export const faces = computed(() => FACES.filter((each) => (each === "message" ? hasMessages.value : true)));
export const choose = (next: Face): void => void (chosen.value = next);

// Options belong to one graph: what was entered for it comes back with it.
interface Entered {
  drafts: readonly Unsent[];
  face: Face | undefined;
}
const enteredFor = new Map<string, Entered>();
const OPTIONS: readonly Draft[] = [configurable, context];
let of = "";
effect(() => {
  if (graphId.value === of) return;
  enteredFor.set(of, { drafts: OPTIONS.map(unsentIn), face: chosen.peek() });
  of = graphId.value;
  const entered = enteredFor.get(of);
  for (const [index, draft] of OPTIONS.entries()) restore(draft, entered?.drafts[index]);
  chosen.value = entered?.face;
});

const unsentIn = ({ value, text, fault, unfit }: Draft): Unsent => ({
  value: value.peek(),
  broken: fault.peek() && text.peek(),
  unfit: [...unfit.peek()],
});

function restore(draft: Draft, { value, broken, unfit = [] }: Unsent = { value: {} }): void {
  draft.set(value);
  if (broken !== undefined) draft.write(broken);
  for (const [path, text] of unfit) draft.refuse(JSON.parse(path) as PathStep[], text);
}

// The input belongs to one thread or, before there is one, to the graph.
export const conversation = computed(() => threadId.value ?? `graph ${graphId.value}`);
let shown = "";
effect(() => {
  if (conversation.value === shown) return;
  const left = unsentIn(input);
  const isCreated = conversation.value === createdThread();
  // The thread of the run that is being sent takes the input over, except that its form stays filled in for the next one.
  keepUnsent(shown, isCreated ? { value: withoutMessage(left.value) } : left);
  shown = conversation.value;
  if (!isCreated) restore(input, unsentOf(shown));
});

/** The message of an input that was sent from a conversation goes; what was typed meanwhile stays. */
export function clearSent(from: string, sent: unknown): void {
  if (input.value.peek() === sent) {
    if (messageOf(sent)) input.set(withoutMessage(sent));
  } else if (unsentOf(from)?.value === sent) keepUnsent(from, { value: withoutMessage(sent) });
}

const withoutMessage = (value: unknown): unknown =>
  messageOf(value) ? withMessage(value, { text: "", files: [] }) : value;

const storeInput = (): void => {
  keepUnsent(shown, unsentIn(input));
  storeUnsent();
};
addEventListener("pagehide", storeInput);
// Browsers may end a hidden page without another event.
document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && storeInput());

/** The run that the composer would send, without empty options. */
export function wish(): RunWish {
  const [settings, more] = [given(configurable), given(context)];
  return {
    input: input.value.value,
    ...(settings && { config: { configurable: settings } }),
    ...(more && { context: more }),
    ...stops(),
  };
}

const given = ({ value: { value } }: Draft): JsonObject | undefined =>
  isRecord(value) && Object.keys(value).length > 0 ? value : undefined;

// Server-side validation errors of the fields.

/** By field path: errors of a rejected request, and of a run whose graph rejected the input. */
export const faults = computed<FieldFaults>(() => {
  const refused = (refusal.value?.issues ?? [])
    .filter(({ loc }) => loc[0] === "body" && loc[1] === "input")
    .map(({ loc, msg }): [string, string] => [JSON.stringify(loc.slice(2)), msg]);
  const thrown = picture.value?.end?.error;
  return new Map([...schemaIssues(thrown), ...refused]);
});

// Earlier inputs: those of the thread's runs, and those sent to the graph from this tab.

const MOST_EARLIER = 20;
const storedUnder = (graph: string): string => `graph-serve.inputs.${graph}`;
export const earlier = signal<readonly unknown[]>([]);

/** Store the input that was sent to the graph, for this tab. */
export function remember(graph: string, value: unknown): void {
  const kept = distinct([value, ...tabList(storedUnder(graph))]);
  try {
    sessionStorage.setItem(storedUnder(graph), JSON.stringify(kept));
  } catch {
    // Storage quota exceeded: the input is still available from its run.
  }
  if (graph === graphId.peek()) earlier.value = distinct([value, ...earlier.value]);
}

export async function loadEarlier(): Promise<void> {
  const id = threadId.value;
  const here = tabList(storedUnder(graphId.value));
  earlier.value = distinct(here);
  if (id === undefined) return;
  const inputs: unknown[] = [];
  try {
    for (const [offset, limit] of EARLIER_PAGES) {
      const page = `limit=${limit}&offset=${offset}&select=kwargs`;
      const path = `/threads/${encodeURIComponent(id)}/runs?${page}`;
      const { body } = await ask<Pick<Run, "kwargs">[]>("GET", path);
      if (id !== threadId.value) return;
      inputs.push(...body.map(({ kwargs }) => kwargs.input).filter((value) => value != null));
      earlier.value = distinct([...inputs, ...here]);
      if (body.length < limit || JSON.stringify(inputs).length > MUCH) return;
    }
  } catch {
    // On failure only the inputs of this tab are listed.
  }
}

/** Offset and limit of each page. Inputs with files are large: the second page is read only if the first is small. */
const EARLIER_PAGES = [
  [0, 2],
  [2, MOST_EARLIER - 2],
] as const;
const MUCH = 500_000;

const distinct = (values: readonly unknown[]): unknown[] => {
  const byText = new Map(values.map((value) => [JSON.stringify(value), value]));
  return [...byText.values()].slice(0, MOST_EARLIER);
};

export function earlierLine(value: unknown): string {
  const { text = "", files = [] } = messageOf(value) ?? {};
  const names = files.map((block) => fileOf(block)).map((file) => `[${file?.name ?? file?.mime}]`);
  return ([text, ...names].filter(Boolean).join(" ") || JSON.stringify(value))
    .replaceAll(/\s+/g, " ")
    .slice(0, 120);
}

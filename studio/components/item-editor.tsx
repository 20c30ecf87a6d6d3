/** Views, writes and deletes one memory item as JSON. */
import { useEffect, useState } from "preact/hooks";
import { isRecord } from "../../src/models/json.js";
import type { StoreItem } from "../../src/models/store.js";
import { type ApiError, isReadOnly } from "../api.js";
import { go, place, withQuery } from "../router.js";
import { jsonFault, type TextFault } from "../state/json-fault.js";
import { load, loading } from "../state/loading.js";
import {
  namespace,
  readItem,
  removeItem,
  storeHref,
  writeAction,
  writeItem,
  type Written,
} from "../state/memory.js";
import { strings } from "../strings.js";
import { Empty, Fault, Waiting } from "./common.js";
import { CopyAs } from "./copy-as.js";
import { JsonEditor } from "./json-editor.js";
import { Ago, jsonText, visible } from "./text.js";

/** `itemKey` is undefined for a new item. */
export function ItemEditor({ itemKey }: { itemKey: string | undefined }) {
  const [read] = useState(() => loading<{ item: StoreItem | null }>());
  const readIt = (key: string) => load(read, async () => ({ item: await readItem(namespace.value, key) }));
  useEffect(() => {
    if (itemKey !== undefined) void readIt(itemKey);
  }, []);
  const found = read.value.value;
  const back = withQuery({ key: undefined, edit: undefined });
  return (
    <>
      <a class="back" href={back}>
        ← {strings.memory.items}
      </a>
      {itemKey === undefined ? (
        <Form item={undefined} />
      ) : read.error.value ? (
        <Fault error={read.error.value} retry={() => void readIt(itemKey)} />
      ) : !found ? (
        <Waiting />
      ) : found.item ? (
        <Form item={found.item} />
      ) : (
        <Empty title={strings.memory.gone} />
      )}
    </>
  );
}

interface Draft {
  namespace: string;
  key: string;
  text: string;
  minutes: string;
}

const draftOf = (item: StoreItem | undefined): Draft => ({
  namespace: (item?.namespace ?? namespace.value).join("."),
  key: item?.key ?? "",
  text: jsonText(item?.value ?? {}),
  minutes: item?.ttl_minutes == null ? "" : String(item.ttl_minutes),
});

/** Saves the item; a new one does not replace an item with its key. */
function useSave(item: StoreItem | undefined) {
  const [error, setError] = useState<ApiError | undefined>(undefined);
  const [isSaving, setSaving] = useState(false);
  /** Address of the item that has the key. */
  const [taken, setTaken] = useState<string | undefined>(undefined);
  const save = async (written: Written) => {
    if (isSaving) return;
    const from = place.peek();
    setSaving(true);
    setError(undefined);
    try {
      if (!item && (await readItem(written.namespace, written.key)) !== null)
        return setTaken(storeHref(written.namespace, { key: written.key }));
      await writeItem(written);
      // The page may show something else meanwhile.
      if (place.peek() === from) go(storeHref(written.namespace));
    } catch (refused) {
      setError(refused as ApiError);
    } finally {
      setSaving(false);
    }
  };
  return { error, taken, forget: () => setTaken(undefined), save };
}

function Form({ item }: { item: StoreItem | undefined }) {
  const [draft, setDraft] = useState(() => draftOf(item));
  const value = valueOf(draft.text);
  const isReady = value.json !== undefined && draft.key !== "" && draft.namespace !== "";
  const { error, taken, forget, save } = useSave(item);
  const change = (changes: Partial<Draft>) => {
    forget();
    setDraft({ ...draft, ...changes });
  };
  const written = isReady &&
    value.json && {
      namespace: draft.namespace.split("."),
      key: draft.key,
      value: value.json,
      ttl: draft.minutes === "" ? null : Number(draft.minutes),
    };
  const remove = (gone: StoreItem) => {
    removeItem(gone, strings.memory.removed(gone.key));
    go(storeHref(namespace.value));
    document.getElementById("content")?.focus();
  };
  return (
    <form
      class="stored-item"
      aria-label={strings.memory.item}
      onSubmit={(event) => {
        event.preventDefault();
        if (written) void save(written);
      }}
    >
      {item ? <Heading item={item} /> : <Place draft={draft} change={change} />}
      <Fields draft={draft} change={change} parsed={value} />
      {error && <Fault error={error} />}
      {taken !== undefined && (
        <p class="bad" role="alert">
          {strings.memory.taken(visible(draft.key))} <a href={taken}>{strings.memory.openTaken}</a>
        </p>
      )}
      {!isReadOnly && (
        <div class="actions">
          <button type="submit" class="main" aria-disabled={!isReady}>
            {strings.memory.save}
          </button>
          {item && (
            <button type="button" onClick={() => remove(item)}>
              {strings.memory.remove}
            </button>
          )}
          {written && <CopyAs action={() => writeAction(written)} />}
        </div>
      )}
    </form>
  );
}

interface FieldsProps {
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
}

function Fields({ draft, change, parsed: { fault, place: at } }: FieldsProps & { parsed: Parsed }) {
  return (
    <>
      <div>
        <span class="dim small-text" aria-hidden="true">
          {strings.memory.json}
        </span>
        <JsonEditor
          text={draft.text}
          label={strings.memory.json}
          isInvalid={fault !== undefined}
          fault={at}
          faultId="item-fault"
          isReadOnly={isReadOnly}
          onText={(text) => change({ text })}
        />
      </div>
      {fault !== undefined && (
        <p id="item-fault" class="bad small-text" role="status">
          {fault}
        </p>
      )}
      <label class="minutes">
        <span>{strings.memory.minutes}</span>
        <input
          type="number"
          min="0"
          step="any"
          placeholder={strings.memory.forever}
          value={draft.minutes}
          onInput={({ currentTarget }) => change({ minutes: currentTarget.value })}
        />
      </label>
    </>
  );
}

function Heading({ item }: { item: StoreItem }) {
  return (
    <>
      <h2>{visible(item.key)}</h2>
      <p class="facts">
        <span>{visible(item.namespace.join(" › "))}</span>
        <span>
          {strings.memory.written} <Ago at={item.updated_at} />
        </span>
        {item.ttl_minutes !== null && <span>{strings.memory.lives(item.ttl_minutes)}</span>}
      </p>
    </>
  );
}

function Place({ draft, change }: FieldsProps) {
  return (
    <>
      <h2>{strings.memory.add}</h2>
      <div class="fields">
        <label>
          <span>{strings.memory.namespace}</span>
          <input
            value={draft.namespace}
            required
            placeholder="users.ada"
            onInput={({ currentTarget }) => change({ namespace: currentTarget.value })}
          />
        </label>
        <label>
          <span>{strings.memory.key}</span>
          <input
            value={draft.key}
            required
            onInput={({ currentTarget }) => change({ key: currentTarget.value })}
          />
        </label>
      </div>
    </>
  );
}

interface Parsed {
  json?: Record<string, unknown>;
  /** Why the text is not a JSON object. */
  fault?: string;
  /** Position of a syntax error. */
  place?: TextFault;
}

function valueOf(text: string): Parsed {
  try {
    const json = JSON.parse(text) as unknown;
    return isRecord(json) ? { json } : { fault: strings.memory.noObject };
  } catch {
    const at = jsonFault(text);
    return { fault: strings.memory.fault(at.line, at.column), place: at };
  }
}

/** Long-term memory: namespaces as a tree, items below the selected one, and an item editor. */
import { useEffect } from "preact/hooks";
import type { StoreItem } from "../../src/models/store.js";
import { isReadOnly } from "../api.js";
import { Empty, Fault, Waiting } from "../components/common.js";
import { EndOfList } from "../components/end-of-list.js";
import { ItemEditor } from "../components/item-editor.js";
import { FactsField } from "../components/list-head.js";
import { Ago, visible } from "../components/text.js";
import { go, place, withQuery } from "../router.js";
import {
  hasMoreItems,
  itemPage,
  items,
  levels,
  loadMoreItems,
  MOST_BRANCHES,
  namespace,
  reloadMemory,
  shownItems,
  storeHref,
} from "../state/memory.js";
import { parseMeta } from "../state/threads.js";
import { strings } from "../strings.js";

/** Value of the query parameter `key` for a new item. */
const NEW = "new";

export function Memory() {
  const { value, key, edit } = place.value.query;
  const path = namespace.value.join(".");
  useEffect(() => void reloadMemory(), [path, value]);
  const isOpen = key !== undefined || edit === NEW;
  return (
    <main id="content" class="screen memory" tabIndex={-1}>
      <header class="screen-head">
        <h1>{strings.memory.title}</h1>
        <span class="head-end">
          {!isReadOnly && (
            <button type="button" class="small" onClick={() => go(withQuery({ key: undefined, edit: NEW }))}>
              {strings.memory.add}
            </button>
          )}
          <button type="button" class="small" data-refresh onClick={() => void reloadMemory()}>
            {strings.refresh}
          </button>
        </span>
      </header>
      <div class="memory-panes">
        <Tree />
        <section aria-label={strings.memory.items}>
          {isOpen ? <ItemEditor key={`${path} ${key ?? ""}`} itemKey={key} /> : <Items />}
        </section>
      </div>
    </main>
  );
}

function Tree() {
  const { value } = levels.value;
  if (levels.error.value) return <Fault error={levels.error.value} retry={() => void reloadMemory()} />;
  return (
    <nav class="namespaces" aria-label={strings.memory.namespaces}>
      <a href={storeHref([])} aria-current={namespace.value.length === 0 ? "page" : undefined}>
        {strings.memory.everything}
      </a>
      {value && <Branches depth={0} />}
    </nav>
  );
}

/** Labels of one level; children of the selected one are nested below it. */
function Branches({ depth }: { depth: number }) {
  const level = levels.value.value?.[depth] ?? [];
  if (level.length === 0) return null;
  return (
    <ul>
      {level.slice(0, MOST_BRANCHES).map((labels) => {
        const isOnTheWay = labels.every((label, index) => namespace.value[index] === label);
        const isHere = isOnTheWay && namespace.value.length === labels.length;
        return (
          <li key={labels[depth]}>
            <a href={storeHref(labels)} aria-current={isHere ? "page" : undefined}>
              {visible(labels[depth] ?? "")}
            </a>
            {isOnTheWay && <Branches depth={depth + 1} />}
          </li>
        );
      })}
      {level.length > MOST_BRANCHES && <li class="dim small-text">{strings.memory.cut(MOST_BRANCHES)}</li>}
    </ul>
  );
}

function Items() {
  const { q = "" } = place.value.query;
  return (
    <>
      <div class="fields">
        <label>
          <span>{strings.memory.filter}</span>
          <input
            type="search"
            data-slash
            value={q}
            onInput={({ currentTarget }) => go(withQuery({ q: currentTarget.value }), { replace: true })}
          />
        </label>
        <FactsField name="value" label={strings.memory.value} hint={strings.memory.valueHint} />
      </div>
      <List />
    </>
  );
}

function List() {
  const error = itemPage.error.value;
  if (error && items.value.length === 0) return <Fault error={error} retry={() => void reloadMemory()} />;
  if (items.value.length === 0) {
    if (itemPage.busy.value) return <Waiting />;
    const isFiltered = parseMeta(place.value.query.value ?? "") !== undefined;
    return isFiltered || namespace.value.length > 0 ? (
      <Empty title={strings.memory.noMatch} />
    ) : (
      <Empty title={strings.memory.none} hint={strings.memory.noneHint} />
    );
  }
  return (
    <>
      {shownItems.value.length === 0 && (
        <Empty title={strings.memory.noMatch} hint={strings.list.noMatchHint} />
      )}
      <ul class="threads" data-list>
        {shownItems.value.map((item) => (
          <Row key={`${item.namespace.join(".")} ${item.key}`} item={item} />
        ))}
      </ul>
      {error && <Fault error={error} retry={() => void loadMoreItems()} />}
      <EndOfList
        count={items.value.length}
        page={itemPage}
        hasMore={hasMoreItems.value}
        more={() => void loadMoreItems()}
        text={strings.memory.loaded(shownItems.value.length)}
      />
    </>
  );
}

function Row({ item }: { item: StoreItem }) {
  const below = item.namespace.slice(namespace.value.length).join(" › ");
  return (
    <li>
      <a class="thread" href={storeHref(item.namespace, { key: item.key })}>
        <span class="preview">{visible(item.key)}</span>
        <code class="one-line dim">{visible(JSON.stringify(item.value).slice(0, 300))}</code>
        <span class="facts">
          {below !== "" && <span>{visible(below)}</span>}
          <Ago at={item.updated_at} />
          {item.ttl_minutes !== null && <span>{strings.memory.lives(item.ttl_minutes)}</span>}
        </span>
      </a>
    </li>
  );
}

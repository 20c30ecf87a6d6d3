/**
 * Tree view of a value of any size: keyboard and mouse navigation, search, and the selected value in full.
 */
import { useEffect, useMemo, useState } from "preact/hooks";
import { isMessageLike } from "../../src/models/json.js";
import type { PathStep } from "../../src/models/value-path.js";
import { valueAt } from "../../src/models/value-path.js";
import { messageLine } from "../../src/view/text.js";
import { strings } from "../strings.js";
import { movedBy, rowId, Rows, typedAhead } from "./rows.js";
import { Copy, jsonText, keyText, LongText, visible } from "./text.js";
import {
  ancestorKeys,
  entriesOf,
  findInTree,
  pathKey,
  pathOfKey,
  pathText,
  type TreeRow,
  treeRows,
} from "./tree-rows.js";

const ROW = 26;
const MOST_OPEN = 30;
const SHOWN = 160;
const ID = "tree";

/** Initially opens the short entries of the first level. */
function firstOpen(root: unknown): ReadonlySet<string> {
  const entries = entriesOf(root) ?? [];
  const short = entries.filter(([, value]) => (entriesOf(value)?.length ?? Infinity) <= MOST_OPEN);
  return new Set(entries.length > MOST_OPEN ? [] : short.map(([step]) => pathKey([step])));
}

interface TreeProps {
  root: unknown;
  label: string;
  /** Key of the initially selected value, and the callback for another selection. */
  at?: string | undefined;
  onChoose?: (key: string | undefined) => void;
  /** Whether an entry of the first level is hidden from clients. */
  isHidden?: (name: string) => boolean;
  /** Called with the path of the selected value if it is to be expected in a case file. */
  onExpect?: ((path: string) => void) | undefined;
  /** Called with the selected value to find the first step that has it. */
  onFind?: ((path: readonly PathStep[], value: unknown) => void) | undefined;
}

/** The key of the selected value. Follows the address, which changes by Back, or a link to another value. */
function useChosen(at: string | undefined, open: (keys: readonly string[]) => void) {
  const [active, choose] = useState(at);
  useEffect(() => {
    if (at === active) return;
    choose(at);
    open(ancestorKeys(pathOfKey(at ?? "") ?? []));
  }, [at]);
  return [active, choose] as const;
}

export function Tree({ root, label, at, onChoose, isHidden, onExpect, onFind }: TreeProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(
    () => new Set([...firstOpen(root), ...ancestorKeys(pathOfKey(at ?? "") ?? [])]),
  );
  const [active, choose] = useChosen(at, (ancestors) =>
    setOpen((before) => new Set([...before, ...ancestors])),
  );
  const setActive = (key: string | undefined) => {
    choose(key);
    onChoose?.(key);
  };
  const [text, setText] = useState("");
  useEffect(() => setOpen((before) => (before.size > 0 ? before : firstOpen(root))), [root]);
  const rows = useMemo(() => treeRows(root, open), [root, open]);
  const found = useMemo(() => findInTree(root, text), [root, text]);
  const matches = useMemo(() => new Set(found.map(pathKey)), [found]);
  const index = rows.findIndex(({ key }) => key === active);
  const chosen = rows[index];
  const show = (path: readonly PathStep[]) => {
    setOpen(new Set([...open, ...ancestorKeys(path)]));
    setActive(pathKey(path));
  };
  const toggle = (row: TreeRow, isOpen = !row.isOpen) =>
    setOpen(new Set([...open].filter((key) => key !== row.key).concat(isOpen ? [row.key] : [])));
  const onKey = (event: KeyboardEvent) => {
    const to = movedInTree(event, index, rows, toggle);
    if (to === undefined) return;
    event.preventDefault();
    setActive(rows[to]?.key);
  };
  return (
    <div class="tree">
      <Search text={text} setText={setText} found={found} active={active} show={show} />
      <Rows
        id={ID}
        role="tree"
        label={label}
        count={rows.length}
        height={ROW}
        active={index}
        onKey={onKey}
        row={(at) => (
          <Row
            key={rows[at]?.key}
            row={rows[at] as TreeRow}
            index={at}
            isActive={at === index}
            isMatch={matches.has(rows[at]?.key ?? "")}
            isHidden={rows[at]?.depth === 1 && isHidden?.(String(rows[at].path[0]))}
            onPick={() => setActive(rows[at]?.key)}
            onToggle={() => toggle(rows[at] as TreeRow)}
          />
        )}
      />
      {chosen && <Chosen path={chosen.path} value={valueAt(root, chosen.path)} {...{ onExpect, onFind }} />}
    </div>
  );
}

interface SearchProps {
  text: string;
  setText: (text: string) => void;
  found: readonly PathStep[][];
  active: string | undefined;
  show: (path: readonly PathStep[]) => void;
}

/** Enter selects the next match, Shift+Enter the previous one. */
function Search({ text, setText, found, active, show }: SearchProps) {
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || found.length === 0) return;
    const at = found.findIndex((path) => pathKey(path) === active);
    const next = event.shiftKey ? Math.max(at, 0) - 1 + found.length : at + 1;
    const path = found[next % found.length];
    if (path) show(path);
  };
  return (
    <div class="tree-search">
      <input
        type="search"
        data-slash
        placeholder={strings.state.search}
        aria-label={strings.state.search}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={onKey}
      />
      <span class="dim" role="status">
        {text !== "" && strings.state.found(found.length)}
      </span>
    </div>
  );
}

function movedInTree(
  event: KeyboardEvent,
  index: number,
  rows: readonly TreeRow[],
  toggle: (row: TreeRow, isOpen: boolean) => void,
): number | undefined {
  const row = rows[index];
  const to = movedBy(event.key, index, rows.length) ?? (row && inward(event.key, row, index, rows, toggle));
  return to ?? typedAhead(event, index, () => rows.map(({ path }) => String(path.at(-1))));
}

/** Right opens a row or enters it, left closes it or moves to its parent. */
function inward(
  key: string,
  row: TreeRow,
  index: number,
  rows: readonly TreeRow[],
  toggle: (row: TreeRow, isOpen: boolean) => void,
): number | undefined {
  if (key === "Enter" || key === " ") {
    if (row.size) toggle(row, !row.isOpen);
    return index;
  }
  if (key === "ArrowRight") {
    if (row.isOpen) return index + 1;
    if (row.size) toggle(row, true);
    return index;
  }
  if (key !== "ArrowLeft") return undefined;
  if (row.isOpen) {
    toggle(row, false);
    return index;
  }
  const parent = rows.findLastIndex(({ depth }, at) => at < index && depth < row.depth);
  return parent < 0 ? index : parent;
}

interface RowProps {
  row: TreeRow;
  index: number;
  isActive: boolean;
  isMatch: boolean;
  isHidden?: boolean | undefined;
  onPick: () => void;
  onToggle: () => void;
}

function Row({ row, index, isActive, isMatch, isHidden = false, onPick, onToggle }: RowProps) {
  const { path, depth, value, size, isOpen } = row;
  const name = path.at(-1);
  return (
    <div
      id={rowId(ID, index)}
      class={`row ${isMatch ? "is-match" : ""}`}
      role="treeitem"
      aria-level={depth}
      aria-expanded={size ? isOpen : undefined}
      aria-selected={isActive}
      onClick={() => {
        onPick();
        if (size) onToggle();
      }}
    >
      <span class="indent" style={{ width: `${Math.min(depth - 1, 20) * 16}px` }} />
      <span class="twist" aria-hidden="true">
        {size ? (isOpen ? "▾" : "▸") : ""}
      </span>
      <span class={typeof name === "number" ? "index" : "name"}>{keyText(String(name))}</span>
      <span class={`value is-${kindOf(value)}`}>{shortText(value, size, isOpen)}</span>
      {isHidden && <span class="by hidden-key">{strings.shown.hidden}</span>}
    </div>
  );
}

const kindOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "list" : typeof value;

function shortText(value: unknown, size: number | undefined, isOpen: boolean): string {
  if (typeof value === "string") return visible(JSON.stringify(value.slice(0, SHOWN)));
  if (size === undefined) return visible(String(JSON.stringify(value) ?? value)).slice(0, SHOWN);
  if (isMessageLike(value)) return visible(messageLine(value).slice(0, SHOWN).replaceAll("\n", " "));
  if (size === 0) return Array.isArray(value) ? "[]" : "{}";
  return isOpen ? "" : strings.state.entries(size);
}

interface ChosenProps extends Pick<TreeProps, "onExpect" | "onFind"> {
  path: readonly PathStep[];
  value: unknown;
}

function Chosen({ path, value, onExpect, onFind }: ChosenProps) {
  const isText = typeof value === "string";
  return (
    <section class="chosen" aria-label={strings.state.chosen}>
      <header>
        <code>{visible(pathText(path))}</code>
        <Copy label={strings.state.path} text={() => pathText(path)} />
        <Copy label={strings.state.value} text={() => (isText ? value : jsonText(value))} />
        {onFind && (
          <button type="button" class="small" onClick={() => onFind(path, value)}>
            {strings.find.value}
          </button>
        )}
        {onExpect && (
          <button type="button" class="small" onClick={() => onExpect(pathText(path))}>
            {strings.cases.expect}
          </button>
        )}
      </header>
      {isText ? (
        <LongText class="prose" text={value} key={pathText(path)} />
      ) : (
        <LongText class="code" text={jsonText(value)} key={pathText(path)} />
      )}
    </section>
  );
}

/** A list as a table; on small screens each row becomes a card. */
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { go, place, withQuery } from "../router.js";
import { hiddenColumns, hideColumn } from "../state/layout.js";
import { strings } from "../strings.js";
import { Menu } from "./more.js";

interface Column {
  title: string;
  /** Class of the cells in this column. */
  class?: "is-main" | "is-number";
  /** Field of the server to sort by. */
  sort?: string;
}

interface TableProps {
  label: string;
  /** All columns except the last one, which contains the actions of a row. */
  columns: readonly Column[];
  /** The order without one in the address, such as `-updated_at`. */
  sort: string;
  children: ComponentChildren;
}

export function Table({ label, columns, sort, children }: TableProps) {
  const [hidden, setHidden] = useState(() => hiddenColumns(label));
  const classes = [...hidden].map((index) => `hides-${index + 1}`);
  return (
    <>
      <SortChoice columns={columns} ordinary={sort} />
      <table class={["table", ...classes].join(" ")} aria-label={label} data-list>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.title} column={column} ordinary={sort} />
            ))}
            <th scope="col">
              <span class="visually-hidden">{strings.list.actions}</span>
              <Menu class="columns" button={strings.list.columns}>
                <div class="columns-list">
                  {columns.map(
                    (column, index) =>
                      column.class !== "is-main" && (
                        <label key={column.title} class="check">
                          <input
                            type="checkbox"
                            checked={!hidden.has(index)}
                            onChange={({ currentTarget: { checked } }) =>
                              setHidden(hideColumn(label, index, !checked))
                            }
                          />
                          {column.title}
                        </label>
                      ),
                  )}
                </div>
              </Menu>
            </th>
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </>
  );
}

const sortHref = (next: string, ordinary: string): string =>
  withQuery({ sort: next === ordinary ? undefined : next });

/** On small screens the headers are hidden, so a field sorts. */
function SortChoice({ columns, ordinary }: { columns: readonly Column[]; ordinary: string }) {
  const { sort: order = ordinary } = place.value.query;
  return (
    <div class="table-sort">
      <label for="table-sort">{strings.list.sort}</label>
      <select
        id="table-sort"
        value={order}
        onChange={({ currentTarget }) => go(sortHref(currentTarget.value, ordinary), { replace: true })}
      >
        {columns.flatMap(({ title, sort }) =>
          sort === undefined
            ? []
            : [`-${sort}`, sort].map((each) => (
                <option key={each} value={each}>
                  {title} {each === sort ? "↑" : "↓"}
                </option>
              )),
        )}
      </select>
    </div>
  );
}

/** The address has the order: `sort=status`, or `sort=-status` for descending. */
function Head({ column: { title, class: name, sort }, ordinary }: { column: Column; ordinary: string }) {
  const { sort: order = ordinary } = place.value.query;
  if (sort === undefined)
    return (
      <th scope="col" class={name}>
        {title}
      </th>
    );
  const isDown = order === `-${sort}`;
  const isSorted = isDown || order === sort;
  // The first click on another column begins with the newest or highest, but with A for texts.
  const next = isDown || (!isSorted && sort === "status") ? sort : `-${sort}`;
  return (
    <th scope="col" class={name} aria-sort={isSorted ? (isDown ? "descending" : "ascending") : undefined}>
      <button type="button" class="sort" onClick={() => go(sortHref(next, ordinary), { replace: true })}>
        {title}
        <span aria-hidden="true">{isSorted ? (isDown ? " ↓" : " ↑") : ""}</span>
      </button>
    </th>
  );
}

interface TableRowProps {
  /** A change of this value highlights the row for a moment. */
  version: string;
  children: ComponentChildren;
}

export function TableRow({ version, children }: TableRowProps) {
  const seen = useRef({ version, changes: 0 });
  const { changes } = seen.current;
  if (seen.current.version !== version) seen.current = { version, changes: changes + 1 };
  return <tr class={FLASHES[Math.min(seen.current.changes, 1) + (seen.current.changes % 2)]}>{children}</tr>;
}

/** Two classes with equal animations: only a changed class restarts an animation. */
const FLASHES = ["", "is-changed-again", "is-changed"];

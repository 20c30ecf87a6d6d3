/** A list as a table; on small screens each row becomes a card. */
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { hiddenColumns, hideColumn } from "../state/layout.js";
import { strings } from "../strings.js";

interface Column {
  title: string;
  /** Class of the cells in this column. */
  class?: "is-main" | "is-number";
}

interface TableProps {
  label: string;
  /** All columns except the last one, which contains the actions of a row. */
  columns: readonly Column[];
  children: ComponentChildren;
}

export function Table({ label, columns, children }: TableProps) {
  const [hidden, setHidden] = useState(() => hiddenColumns(label));
  const [isOpen, setOpen] = useState(false);
  const classes = [...hidden].map((index) => `hides-${index + 1}`);
  return (
    <table class={["table", ...classes].join(" ")} aria-label={label} data-list>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.title} scope="col" class={column.class}>
              {column.title}
            </th>
          ))}
          <th scope="col">
            <span class="visually-hidden">{strings.list.actions}</span>
            <details class="columns" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
              <summary>{strings.list.columns}</summary>
              {isOpen && (
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
              )}
            </details>
          </th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
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

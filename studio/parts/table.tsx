/** A list as a table; on small screens each row becomes a card. */
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
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

export const Table = ({ label, columns, children }: TableProps) => (
  <table class="table" aria-label={label} data-list>
    <thead>
      <tr>
        {columns.map((column) => (
          <th key={column.title} scope="col" class={column.class}>
            {column.title}
          </th>
        ))}
        <th scope="col">
          <span class="visually-hidden">{strings.list.actions}</span>
        </th>
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
);

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

/** Native modal dialog: it keeps the focus, and Escape or a press outside closes it. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { strings } from "../strings.js";

interface DialogProps {
  title: string;
  onClose: () => void;
  /** A press outside does not close it, because it would discard what was entered. */
  isForm?: boolean;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, isForm = false, children }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = box.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={box}
      aria-labelledby="dialog-title"
      onMouseDown={(event) => {
        if (isForm || !box.current || !isOutside(box.current, event)) return;
        // The focus returns to what opened the dialog, not to what is below the pointer.
        event.preventDefault();
        onClose();
      }}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header class="dialog-head">
        <h2 id="dialog-title">{title}</h2>
        <button type="button" class="small" onClick={onClose}>
          {strings.close}
        </button>
      </header>
      {children}
    </dialog>
  );
}

/** The backdrop belongs to the dialog element. */
function isOutside(dialog: HTMLElement, { target, clientX: x, clientY: y }: MouseEvent): boolean {
  const { left, right, top, bottom } = dialog.getBoundingClientRect();
  return target === dialog && (x < left || x > right || y < top || y > bottom);
}

/** Message attachments: selected, pasted, or dropped anywhere on the page. */
import { useEffect, useRef, useState } from "preact/hooks";
import { attachFiles, detachFile, notAdded, said } from "../state/attached.js";
import { choose } from "../state/composer.js";
import { fileOf } from "../state/files.js";
import { strings } from "../strings.js";
import { FileFacts, fileName, Thumbnail } from "./file.js";
import { visible } from "./text.js";

export function Attached() {
  const isOver = useDrop();
  const chooser = useRef<HTMLInputElement>(null);
  const files = (said()?.files ?? []).map(fileOf);
  return (
    <div class={`attached ${isOver ? "is-over" : ""}`}>
      {files.length > 0 && (
        <ul aria-label={strings.files.title}>
          {files.map(
            (file, index) =>
              file && (
                <li key={index}>
                  <Thumbnail file={file} />
                  <FileFacts file={file} />
                  <button type="button" class="small" onClick={(event) => remove(event, index)}>
                    <span aria-hidden="true">×</span>
                    <span class="visually-hidden">{strings.files.remove(fileName(file))}</span>
                  </button>
                </li>
              ),
          )}
        </ul>
      )}
      {notAdded.value.length > 0 && (
        <p class="bad small-text" role="alert">
          {visible(notAdded.value.join(" "))}
        </p>
      )}
      <button type="button" class="small" title={strings.files.hint} onClick={() => chooser.current?.click()}>
        {strings.files.add}
      </button>
      {isOver && (
        <span class="dim small-text" aria-hidden="true">
          {strings.files.drop}
        </span>
      )}
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label={strings.files.add}
        onChange={({ currentTarget }) => {
          void attachFiles([...(currentTarget.files ?? [])]);
          // Allow selecting the same file again.
          currentTarget.value = "";
        }}
      />
    </div>
  );
}

/** Moves the focus to the next file or, after the last one, to the message. */
function remove({ currentTarget }: { currentTarget: EventTarget }, index: number): void {
  const list = (currentTarget as HTMLElement).closest("ul");
  detachFile(index);
  requestAnimationFrame(() => {
    const buttons = list?.isConnected ? list.querySelectorAll("button") : undefined;
    (buttons?.[Math.min(index, buttons.length - 1)] ?? document.getElementById("message"))?.focus();
  });
}

/** Some content, such as a table, is copied as text plus image: paste the text. */
export function paste(event: ClipboardEvent): void {
  const { files, types } = event.clipboardData ?? {};
  if (!files || files.length === 0 || types?.includes("text/plain")) return;
  event.preventDefault();
  void attachFiles([...files]);
}

/** Accepts drops anywhere: otherwise a missed drop would replace the page with the file. */
function useDrop(): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const isFile = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;
    const over = (event: DragEvent) => {
      if (!isFile(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = ({ relatedTarget }: DragEvent) => relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      if (!isFile(event)) return;
      event.preventDefault();
      setOver(false);
      choose("message");
      void attachFiles([...(event.dataTransfer?.files ?? [])]);
    };
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragover", over);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", drop);
    };
  }, []);
  return isOver;
}

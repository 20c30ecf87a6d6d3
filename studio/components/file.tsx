/** A file embedded in a message: images are shown, other files are named, and all can be saved. */
import { bytesOf, bytesText, type HeldFile, safeName } from "../state/files.js";
import { strings } from "../strings.js";
import { visible } from "./text.js";

/** Image types that cannot contain scripts. */
const SHOWN = /^image\/(png|jpeg|gif|webp)$/;

export function Thumbnail({ file }: { file: HeldFile }) {
  if (!SHOWN.test(file.mime)) return <span class="file-kind">{strings.files.kinds[file.kind]}</span>;
  return <img class="thumbnail" src={`data:${file.mime};base64,${file.data}`} alt="" />;
}

export function FileFacts({ file }: { file: HeldFile }) {
  return (
    <>
      <span class="one-line">{fileName(file)}</span>
      <span class="dim small-text">{bytesText(bytesOf(file))}</span>
    </>
  );
}

export const fileName = ({ name, mime }: HeldFile): string => visible(name ?? mime);

export function FileInMessage({ file }: { file: HeldFile }) {
  const isShown = SHOWN.test(file.mime);
  return (
    <figure class="held">
      {isShown && <img class="picture" src={`data:${file.mime};base64,${file.data}`} alt={fileName(file)} />}
      <figcaption>
        {!isShown && <span class="file-kind">{strings.files.kinds[file.kind]}</span>}
        <FileFacts file={file} />
        <button type="button" class="small" onClick={() => save(file)}>
          {strings.files.save}
          <span class="visually-hidden"> {fileName(file)}</span>
        </button>
      </figcaption>
    </figure>
  );
}

/** Saved with a generic type: the browser must not open untrusted content. */
function save(file: HeldFile): void {
  const bytes = bytesIn(file.data);
  if (bytes) saveAs(new Blob([bytes], { type: "application/octet-stream" }), file.name ?? file.kind);
}

function bytesIn(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64.replaceAll("-", "+").replaceAll("_", "/")), (char) =>
      char.charCodeAt(0),
    );
  } catch {
    return undefined;
  }
}

/** Save as a browser download, with a name without folders. */
export function saveAs(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = safeName(name);
  link.click();
  URL.revokeObjectURL(link.href);
}

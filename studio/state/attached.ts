/** Attachments of the current message, within the server's request limit. */
import { signal } from "@preact/signals";
import { strings } from "../strings.js";
import { input } from "./composer.js";
import { messageOf, type Said, withMessage } from "./draft.js";
import { base64Length, blockOf, bytesText, type HeldFile, kindOf, UNKNOWN } from "./files.js";
import { server } from "./server.js";

/** Reasons why files were not added, one per line. */
export const notAdded = signal<readonly string[]>([]);

/** Bytes reserved for the rest of the request and for file names. */
const ROOM_BESIDE = 4096;

const sizeOfInput = (): number => new Blob([JSON.stringify(input.value.value)]).size;

export const said = (): Said | undefined => messageOf(input.value.value);
const say = (next: Said): void => input.set(withMessage(input.value.value, next));

/** Add files to the message; reports files that are too large or unreadable. */
export async function attachFiles(files: readonly File[]): Promise<void> {
  const faults: string[] = [];
  for (const file of files) {
    const fault = await attachOne(file);
    if (fault !== undefined) faults.push(fault);
  }
  notAdded.value = faults;
}

async function attachOne(file: File): Promise<string | undefined> {
  const most = server.value.value?.body_limit;
  const needed = sizeOfInput() + base64Length(file.size) + ROOM_BESIDE;
  if (most !== undefined && needed > most)
    return strings.files.tooLarge(file.name, bytesText(needed), bytesText(most));
  try {
    const held = await readFile(file);
    const now = said();
    if (!now) return strings.files.noMessage(file.name);
    say({ ...now, files: [...now.files, blockOf(held)] });
    return undefined;
  } catch {
    return strings.files.unreadable(file.name);
  }
}

/** @throws DOMException if the file is unreadable, for example a folder */
function readFile(file: File): Promise<HeldFile> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      const url = reader.result as string;
      const mime = file.type === "" ? UNKNOWN : file.type;
      const name = file.name === "" ? undefined : file.name;
      resolve({ kind: kindOf(mime, "file"), mime, data: url.slice(url.indexOf(",") + 1), name });
    };
    reader.onerror = () => reject(reader.error ?? new DOMException("", "NotReadableError"));
    reader.readAsDataURL(file);
  });
}

export function detachFile(index: number): void {
  const now = said();
  notAdded.value = [];
  if (now) say({ ...now, files: now.files.toSpliced(index, 1) });
}

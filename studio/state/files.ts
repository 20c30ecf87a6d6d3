/** Files that lie in a message itself, as base64: in the form of LangChain, and in those of providers. */
import { isRecord, type JsonObject } from "../../src/models/json.js";

export const KINDS = ["image", "audio", "video", "file"] as const;

export interface HeldFile {
  kind: (typeof KINDS)[number];
  mime: string;
  /** Base64. */
  data: string;
  name: string | undefined;
}

/** The file that a block of content holds; undefined for any other block, also for one that only says where a file is. */
export function fileOf(block: unknown): HeldFile | undefined {
  if (!isRecord(block)) return undefined;
  const { data, mime } = dataOf(block) ?? {};
  if (data === undefined || !BASE64.test(data.slice(0, 100))) return undefined;
  return { kind: kindOf(mime, block.type), mime: mime ?? UNKNOWN, data, name: nameOf(block) };
}

export const UNKNOWN = "application/octet-stream";
const BASE64 = /^[\w+/=-]*$/;
const DATA_URL = /^data:([\w.+/-]+)[^,]{0,100};base64,/;

interface Data {
  data: string;
  mime?: string;
}

function dataOf(block: JsonObject): Data | undefined {
  const { type, data, base64, mimeType, mime_type, source, image_url, input_audio, file } = block;
  const mime = textIn(mimeType) ?? textIn(mime_type);
  const isOurs = KINDS.some((kind) => kind === type) || type === "text-plain";
  // LangChain, as of version 1, before, and in Python.
  const held = textIn(data) ?? textIn(base64);
  if (isOurs && held !== undefined) return { data: held, mime };
  // Anthropic.
  if (isRecord(source) && typeof source.data === "string")
    return { data: source.data, mime: textIn(source.media_type) };
  // OpenAI.
  if (isRecord(input_audio) && typeof input_audio.data === "string")
    return { data: input_audio.data, mime: `audio/${textIn(input_audio.format) ?? "wav"}` };
  const url = isRecord(image_url)
    ? image_url.url
    : isRecord(file)
      ? file.file_data
      : (image_url ?? block.url);
  const told = typeof url === "string" ? DATA_URL.exec(url) : null;
  return told && typeof url === "string" ? { data: url.slice(told[0].length), mime: told[1] } : undefined;
}

const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

export function kindOf(mime: string | undefined, type: unknown): HeldFile["kind"] {
  const family = mime?.split("/", 1)[0];
  return KINDS.find((kind) => kind === family) ?? KINDS.find((kind) => kind === type) ?? "file";
}

function nameOf({ metadata, file, filename, name, title }: JsonObject): string | undefined {
  const told = isRecord(metadata) ? [metadata.filename, metadata.name, metadata.title] : [];
  const inner = isRecord(file) ? [file.filename] : [];
  return [...told, ...inner, filename, name, title].find(
    (each) => typeof each === "string" && each !== "",
  ) as string | undefined;
}

/**
 * The block for it. It says the same twice, as LangChain's message of version 1 does and as the ones before: models'
 * packages of today look for the older one, code of graphs for the newer.
 */
export function blockOf({ kind, mime, data, name }: HeldFile): JsonObject {
  return {
    type: kind,
    source_type: "base64",
    mime_type: mime,
    mimeType: mime,
    data,
    ...(name !== undefined && { metadata: { filename: name } }),
  };
}

/** Number of bytes that this many base64 characters encode. */
export const bytesOf = ({ data }: HeldFile): number =>
  Math.floor((data.length * 3) / 4) - (data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0);

export function bytesText(bytes: number): string {
  return bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** A name without folders, and without what means something to a shell or a file system. */
export const safeName = (name: string): string => name.replaceAll(/[^\p{L}\p{N}._ -]+/gu, "_").slice(-100);

/** Characters of base64 for this many bytes. */
export const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;

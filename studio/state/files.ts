/** Files embedded in messages as base64, in the formats of LangChain and of providers. */
import { isRecord, type JsonObject } from "../../src/models/json.js";

export const KINDS = ["image", "audio", "video", "file"] as const;

export interface HeldFile {
  kind: (typeof KINDS)[number];
  mime: string;
  /** Base64. */
  data: string;
  name: string | undefined;
}

/**
 * The file embedded in a content block; undefined for other blocks and for blocks that only link to a file.
 */
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
  // LangChain JS: version 1, and earlier versions with the Python spelling.
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
 * Content block of a file. It contains the fields of both LangChain formats: current model packages read the
 * old ones, new graph code reads those of version 1.
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

/** Removes folders and characters that are special in shells and file systems. */
export const safeName = (name: string): string => name.replaceAll(/[^\p{L}\p{N}._ -]+/gu, "_").slice(-100);

/** Number of base64 characters that encode this many bytes. */
export const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;

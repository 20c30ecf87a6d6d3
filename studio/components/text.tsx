/** Renders untrusted text with visible control characters; long text is expandable. */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { escapeControl } from "../../src/view/text.js";
import { strings } from "../strings.js";

/** Characters of a text that are shown initially. */
export const MOST = 10_000;

/** Escapes control characters. */
export const visible = (text: string): string => escapeControl(text.replaceAll("\r\n", "\n"));

/** A key of an object; one without characters is quoted. */
export const keyText = (key: string): string => (key === "" ? '""' : visible(key));

interface CutProps {
  text: string;
  most: number;
  children: (shown: string) => ComponentChildren;
}

/** Shows the start of a long text, with a button that shows all of it. */
export function Cut({ text, most, children }: CutProps) {
  const [isWhole, setWhole] = useState(false);
  const isCut = text.length > most && !isWhole;
  return (
    <>
      {children(isCut ? `${text.slice(0, most)}…` : text)}
      {isCut && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          {strings.state.showAll(text.length)}
        </button>
      )}
    </>
  );
}

interface LongTextProps {
  text: string;
  class?: string;
  most?: number;
}

export function LongText({ text, class: name = "", most = MOST }: LongTextProps) {
  return (
    <Cut text={text} most={most}>
      {(shown) => <pre class={`text ${name}`}>{visible(shown)}</pre>}
    </Cut>
  );
}

export const jsonText = (value: unknown): string => JSON.stringify(value, null, 2) ?? "null";

/** Renders any value: strings as text, everything else as JSON. */
export function Value({ value, class: name }: { value: unknown; class?: string }) {
  return typeof value === "string" ? (
    <LongText text={value} class={`prose ${name ?? ""}`} most={2000} />
  ) : (
    <LongText text={jsonText(value)} class={`code ${name ?? ""}`} most={2000} />
  );
}

export function Copy({ text, label = strings.copy }: { text: () => string; label?: string }) {
  const [result, setResult] = useState<string>();
  const copy = async () => {
    setResult((await isCopied(text())) ? strings.copied : strings.notCopied);
    setTimeout(() => setResult(undefined), 1500);
  };
  return (
    <button type="button" class="small" onClick={() => void copy()}>
      <span aria-live="polite">{result ?? label}</span>
    </button>
  );
}

/** Browsers have no clipboard for pages that HTTP serves from another machine, and users can deny it. */
async function isCopied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });

function agoText(at: string, now = Date.now()): string {
  // The clock of the browser can be behind that of the server.
  const seconds = Math.min(0, (Date.parse(at) - now) / 1000);
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ["second", 1];
  if (unit === "day" && Math.abs(seconds) > 30 * 86_400) return new Date(at).toLocaleDateString();
  return relative.format(Math.trunc(seconds / size), unit);
}

/** Changes now and then, so that relative times stay right. */
const tick = signal(0);
const TICK_MS = 20_000;
export const keepTimes = (): void =>
  void setInterval(() => document.visibilityState === "visible" && (tick.value += 1), TICK_MS);

const SHORT_UNITS: [string, number][] = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
];

/** Age in as few characters as possible: `now`, `5m`, `3h`, `2d`. */
export function ageText(at: string): string {
  void tick.value;
  const seconds = (Date.now() - Date.parse(at)) / 1000;
  const [unit, size] = SHORT_UNITS.find(([, each]) => seconds >= each) ?? ["", 0];
  return size === 0 ? strings.now : `${Math.floor(seconds / size)}${unit}`;
}

export function Ago({ at }: { at: string }) {
  void tick.value;
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {agoText(at)}
    </time>
  );
}

export function msText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

/** Amounts below a dollar have up to three significant digits. */
export function dollars(amount: number): string {
  const zeros = amount > 0 ? -Math.floor(Math.log10(amount)) : 0;
  const maximumFractionDigits = Math.min(Math.max(2, zeros + 2), 9);
  return amount.toLocaleString("en", { style: "currency", currency: "USD", maximumFractionDigits });
}

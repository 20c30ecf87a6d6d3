/** A changed text with its removed and added words marked. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { strings } from "../strings.js";
import { Waiting } from "./common.js";
import { visible } from "./text.js";
import { useSliced } from "./use-sliced.js";
import { type Piece, wordDiff } from "./word-diff.js";

/** Characters of a text whose changes are hard to see in two texts side by side. */
const LONG = 60;
/** Longer pieces are shortened to their start and end. */
const MOST = 1000;
const KEPT = 300;

export const isLong = (value: unknown): value is string => typeof value === "string" && value.length >= LONG;

interface ChangedTextProps {
  before: string;
  after: string;
  /** Shown if the texts have too little in common, or are too long to compare. */
  children: ComponentChildren;
}

export function ChangedText({ before, after, children }: ChangedTextProps) {
  const pieces = useSliced(() => wordDiff(before, after), [before, after]);
  const [isWhole, setWhole] = useState(false);
  if (pieces === undefined) return <Waiting />;
  if (pieces === null) return <>{children}</>;
  const isCut = !isWhole && pieces.some(({ text }) => text.length > MOST);
  return (
    <>
      <pre class="text prose changed-text">
        {pieces.map((piece, index) => (
          <OnePiece key={index} piece={piece} isWhole={isWhole} />
        ))}
      </pre>
      {isCut && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          {strings.state.showAll(after.length)}
        </button>
      )}
    </>
  );
}

function OnePiece({ piece: { kind, text }, isWhole }: { piece: Piece; isWhole: boolean }) {
  const isCut = !isWhole && text.length > MOST;
  const shown = isCut ? `${text.slice(0, KEPT)}\n…\n${text.slice(-KEPT)}` : text;
  if (kind === "same") return <>{visible(shown)}</>;
  const Mark = kind === "added" ? "ins" : "del";
  return (
    <Mark>
      <Aside text={`[${kind === "added" ? strings.changes.came : strings.changes.went}: `} />
      {visible(withBreaks(shown))}
      <Aside text="]" />
    </Mark>
  );
}

/** Screen readers do not announce marked text. */
const Aside = ({ text }: { text: string }) => <span class="visually-hidden">{text}</span>;

/** A removed or added line break alone would be invisible. */
const withBreaks = (text: string): string => (text.trim() === "" ? text.replaceAll("\n", "↵\n") : text);

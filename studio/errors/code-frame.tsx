/** Source lines around an error, with the line of the error marked. */
import { visible } from "../components/text.js";

interface FrameLine {
  number: string;
  text: string;
  isMarked: boolean;
}

/** The lines of a frame such as `> 12 |   return x.y;`; undefined for another format. */
function linesOf(frame: string): FrameLine[] | undefined {
  const lines: FrameLine[] = [];
  for (const row of frame.split("\n")) {
    const [, mark = "", number = "", text = ""] = /^([> ]) *(\d*) \|(?: (.*))?$/.exec(row) ?? [];
    if (mark === "") return undefined;
    if (number === "") lines.push({ number: "", text, isMarked: true });
    else lines.push({ number, text, isMarked: mark === ">" });
  }
  return lines;
}

export function CodeFrame({ frame }: { frame: string }) {
  const lines = linesOf(frame);
  if (!lines)
    return (
      <pre class="text code" tabIndex={0}>
        {visible(frame)}
      </pre>
    );
  return (
    <pre class="code-frame" tabIndex={0}>
      {lines.map(({ number, text, isMarked }, index) => (
        <span key={index} class={`code-line ${isMarked ? "is-marked" : ""}`}>
          <span class="code-number">{number}</span>
          <code>{number === "" ? text : visible(text)}</code>
          {"\n"}
        </span>
      ))}
    </pre>
  );
}

interface Shown {
  /** As it is typed: `$ npx graph-serve …`. */
  command: string;
  /** What it prints to a terminal, with the codes of its colours. */
  text: string;
  code: number;
}

/** Plays the session of docs/terminal.svg; the commands of each terminal in order. */
export function playSession(): Promise<Shown[][]>;

/** The picture of a session, as SVG. */
export function drawSession(terminals: readonly (readonly Shown[])[]): string;

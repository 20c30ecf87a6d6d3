interface Shown {
  /** The command line as typed: `$ npx graph-serve …`. */
  command: string;
  /** Terminal output, with color codes. */
  text: string;
  code: number;
}

/** Plays the session of docs/terminal.svg. Returns the commands of each terminal, in order. */
export function playSession(): Promise<Shown[][]>;

export function drawSession(terminals: readonly (readonly Shown[])[]): string;

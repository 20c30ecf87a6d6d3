/** Line icons of 16 × 16 pixels, drawn with the color of the text. */
const PATHS = {
  run: "M5 3.5v9l7-4.5z",
  inbox: "M2.5 9.5 4 3.5h8l1.5 6v3h-11zM2.5 9.5h3l1 1.5h3l1-1.5h3",
  threads: "M2.5 4h11M2.5 8h11M2.5 12h7",
  runs: "M8 4.5V8l2.5 1.5M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0",
  store:
    "M13 4c0 1.1-2.2 2-5 2S3 5.1 3 4s2.2-2 5-2 5 .9 5 2v8c0 1.1-2.2 2-5 2s-5-.9-5-2V4m10 4c0 1.1-2.2 2-5 2S3 9.1 3 8",
  graphs: "M2.5 2.5h4v3h-4zM9.5 10.5h4v3h-4zM2.5 10.5h4v3h-4zM4.5 5.5v5M6.5 12h3",
  usage: "M2.5 13.5h11M4.5 13.5v-4M8 13.5v-10M11.5 13.5v-6.5",
  shadow: "M2.5 2.5h7v7h-7zM12 6.5h1.5v7h-7V12",
  fold: "M2.5 3h11v10h-11zM6.5 3v10",
  search: "M10.5 10.5 14 14M12 7A5 5 0 1 1 2 7a5 5 0 0 1 10 0",
  theme: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12M8 5l4.5-1M8 8h6M8 11l4.5 1",
  key: "M7 7.5a3 3 0 1 1-4.2 4.2A3 3 0 0 1 7 7.5L13 2m-2 2 2 2M9 5.5l1.5 1.5",
  help: "M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0M6.2 6.3a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.8.6-.8 1.2M8 11.4v.1",
  plus: "M8 3v10M3 8h10",
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);

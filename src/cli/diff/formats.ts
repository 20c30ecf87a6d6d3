export const DIFF_FORMATS = ["text", "json-patch", "html"] as const;
export type DiffFormat = (typeof DIFF_FORMATS)[number];

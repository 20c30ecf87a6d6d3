/** Light, dark or system theme, set as an attribute for the style sheets. */
import { effect, signal } from "@preact/signals";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];
const STORED = "graph-serve.theme";

export const theme = signal<Theme>(THEMES.find((each) => each === localStorage.getItem(STORED)) ?? "system");

effect(() => {
  localStorage.setItem(STORED, theme.value);
  document.documentElement.dataset.theme = theme.value;
});

/** Light, dark, or as the system has it: the style sheet follows one attribute. */
import { effect, signal } from "@preact/signals";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];
const STORED = "graph-serve.theme";

export const theme = signal<Theme>(THEMES.find((each) => each === localStorage.getItem(STORED)) ?? "system");

effect(() => {
  localStorage.setItem(STORED, theme.value);
  document.documentElement.dataset.theme = theme.value;
});

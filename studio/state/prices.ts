/** The user's token prices, stored in this browser. */
import { computed, effect, signal } from "@preact/signals";
import { parsePrices } from "../components/prices.js";

const STORED = "graph-serve.prices";

export const priceText = signal(localStorage.getItem(STORED) ?? "");

effect(() => localStorage.setItem(STORED, priceText.value));

export const prices = computed(() => {
  const list = parsePrices(priceText.value);
  return "prices" in list ? list.prices : [];
});

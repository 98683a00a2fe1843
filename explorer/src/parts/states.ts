// Hidden states as bars: probabilities, or coordinates that may be negative.

import type { StatesAre } from "../api";
import { h } from "../dom";
import { percent, short } from "../format";
import { bars } from "./bars";

const MOST = 12;

export function stateBars(states: number[], are: StatesAre, label: string): HTMLElement {
  const order = states.map((value, i) => [i, value] as const).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const list = bars(
    order.slice(0, MOST).map(([i, value]) => ({
      label: are === "probabilities" ? `state ${i}` : `coordinate ${i}`,
      value: Math.abs(value),
      negative: value < 0,
      text: are === "probabilities" ? percent(value) : short(value),
    })),
    are === "probabilities" ? { label, most: 1 } : { label },
  );
  const left = order.length - MOST;
  const hints = [
    left > 0 ? `The ${left} smallest are not shown.` : "",
    are === "probabilities"
      ? `Entropy: ${entropy(states).toFixed(2)} bits.`
      : "A spectral model knows its states only up to an unknown change of basis. So these are coordinates, not probabilities.",
  ];
  return h("div", {}, list, h("p", { class: "hint" }, hints.join(" ").trim()));
}

function entropy(p: number[]): number {
  return p.reduce((sum, x) => (x > 0 ? sum - x * Math.log2(x) : sum), 0);
}

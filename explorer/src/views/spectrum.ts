// The singular values: those that were kept, and the next ones.

import { get, type Spectrum } from "../api";
import { h, s, scroller } from "../dom";
import { plural, short } from "../format";
import { select } from "../parts/fields";
import { announce, Task } from "../parts/task";
import type { View } from "./view";

const [W, H, LEFT, BOTTOM, TOP] = [720, 320, 56, 34, 14];

function ticks(low: number, high: number, log: boolean): number[] {
  if (log) {
    const all: number[] = [];
    for (let e = Math.floor(Math.log10(low)); 10 ** e <= high; e++) {
      for (const m of [1, 2, 5]) all.push(Number((m * 10 ** e).toPrecision(1)));
    }
    const inside = all.filter((tick) => tick >= low && tick <= high);
    return inside.length > 7 ? inside.filter((tick) => /^1/.test(tick.toExponential())) : inside;
  }
  const step = [1, 2, 2.5, 5, 10].map((m) => m * 10 ** Math.floor(Math.log10(high / 5))).find((size) => high / size <= 6);
  return step ? Array.from({ length: Math.floor(high / step) + 1 }, (_, i) => i * step) : [];
}

function plot({ kept, dropped }: Spectrum, log: boolean): SVGSVGElement {
  const values = [...kept, ...dropped];
  const positive = values.filter((value) => value > 0);
  const high = Math.max(...positive, 1e-300) * (log ? 1.1 : 1.02);
  const low = log ? Math.min(...positive, high / 2) / 1.1 : 0;
  const scale = (value: number) =>
    log ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : value / high;
  const x = (i: number) => LEFT + ((i + 0.5) / values.length) * (W - LEFT - 8);
  const y = (value: number) => H - BOTTOM - scale(value) * (H - BOTTOM - TOP);

  const svg = s("svg", { class: "plot", viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: "img" });
  svg.setAttribute("aria-label", `${values.length} singular values, from ${short(values[0] ?? 0)} to ${short(values.at(-1) ?? 0)}`);
  for (const tick of ticks(low, high, log)) {
    svg.append(
      s("line", { class: "grid", x1: LEFT, x2: W - 8, y1: y(tick), y2: y(tick) }),
      s("text", { class: "tick", x: LEFT - 8, y: y(tick) + 4, "text-anchor": "end" }, short(tick)),
    );
  }
  if (dropped.length) {
    const edge = (x(kept.length - 1) + x(kept.length)) / 2;
    svg.append(s("line", { class: "cut", x1: edge, x2: edge, y1: TOP, y2: H - BOTTOM }));
  }
  const size = Math.max(1.5, Math.min(4, (W - LEFT) / values.length / 3));
  values.forEach((value, i) => {
    const dot = s("circle", { class: i < kept.length ? "kept" : "dropped", cx: x(i), cy: y(value), r: size });
    dot.append(s("title", {}, `${i + 1}: ${short(value)}`));
    svg.append(dot);
  });
  for (const i of new Set([0, kept.length - 1, values.length - 1])) {
    if (i >= 0) svg.append(s("text", { class: "tick", x: x(i), y: H - 12, "text-anchor": "middle" }, i + 1));
  }
  return svg;
}

export const spectrum: View = {
  name: "spectrum",
  title: "Spectrum",
  lead: "The singular values. A gap after those that were kept means that the dimension fits the data.",
  open: ({ model, leaving }) => {
    const task = new Task(leaving);
    void task.run(
      (signal) => get<Spectrum>(`${model.id}/spectrum`, {}, signal),
      (answer) => {
        const { kept, dropped } = answer;
        if (!kept.length) return [h("p", {}, "This model keeps no singular values.")];
        const last = kept.at(-1) ?? 0;
        const next = dropped[0];
        const words = [
          `${plural(kept.length, "value is", "values are")} kept, from ${short(kept[0] ?? 0)} down to ${short(last)}.`,
          next === undefined
            ? "No others were computed."
            : `The next one, which was left out, is ${short(next)}: ${Math.round((100 * next) / last)} % of the last one kept.`,
        ].join(" ");
        const box = scroller("Plot of the singular values", plot(answer, false));
        announce(words);
        const scale = select(
          "Scale",
          [["linear", "linear"], ["log", "logarithmic"]],
          "linear",
          (value) => box.replaceChildren(plot(answer, value === "log")),
        );
        return [
          h("p", {}, words),
          h("div", { class: "row" }, scale.box, h("p", { class: "legend" }, h("i", { class: "kept" }), "kept ", dropped.length ? h("i", { class: "dropped" }) : null, dropped.length ? "left out" : null)),
          box,
          h(
            "details",
            {},
            h("summary", {}, "The numbers"),
            h("p", { class: "numbers" }, kept.map(short).join(", "), dropped.length ? ` | ${dropped.map(short).join(", ")}` : null),
          ),
        ];
      },
    );
    return [task.place];
  },
};

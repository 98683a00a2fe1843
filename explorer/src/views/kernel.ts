// The kernel of two trees, and the fragments that they share.

import { type Kernel, post } from "../api";
import { h, scroller } from "../dom";
import { plural, short } from "../format";
import { form, textArea, textField } from "../parts/fields";
import { announce, Task } from "../parts/task";
import { drawTree } from "../parts/tree";
import type { View } from "./view";

const A = "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT the) (NN cat))))";
const B = "(S (NP (DT the) (NN man)) (VP (VBD saw) (NP (PRP him))))";

export const kernel: View = {
  name: "kernel",
  title: "Tree kernel",
  lead: "The kernel counts the fragments that two trees share. Each production of a fragment multiplies its weight by the decay.",
  open: ({ query, leaving, remember }) => {
    const task = new Task(leaving);
    const a = textArea("First tree, in brackets", query.get("a") ?? A, { class: "mono" });
    const b = textArea("Second tree, in brackets", query.get("b") ?? B, { class: "mono" });
    const decay = textField("Decay", query.get("decay") ?? "0.4", { type: "number", min: 0.05, max: 1, step: 0.05 });

    const ask = () => {
      const fields = { a: a.input.value.trim(), b: b.input.value.trim(), decay: Number(decay.input.value) };
      remember(fields);
      void task.run((signal) => post<Kernel>("kernel", fields, signal), render);
    };
    const render = (answer: Kernel): Node[] => {
      const { value, normalized, trees, fragments } = answer;
      const drawings = trees.map((tree, i) => drawTree(tree, i ? "Second tree" : "First tree"));
      const choose = (index: number) => {
        buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === index)));
        const places = fragments[index]?.places ?? [[], []];
        drawings.forEach((drawing, i) => drawing.mark(places[i] ?? []));
      };
      const buttons = fragments.map(({ fragment, size, weight }, i) =>
        h(
          "button",
          { type: "button", class: "fragment", "aria-pressed": "false", click: () => choose(i) },
          h("code", {}, fragment),
          h("small", {}, `${plural(size, "production")}, weight ${short(weight)}`),
        ),
      );
      announce(`Kernel ${short(value)}, normalized ${short(normalized)}`);
      if (fragments.length) choose(0);
      return [
        h(
          "dl",
          { class: "figures" },
          h("div", {}, h("dt", {}, "Kernel"), h("dd", {}, short(value))),
          h("div", {}, h("dt", {}, "Normalized"), h("dd", {}, short(normalized))),
        ),
        h("div", { class: "columns" }, ...drawings.map(({ svg }, i) => scroller(i ? "Drawing of the second tree" : "Drawing of the first tree", svg))),
        h("h3", {}, "The largest common fragments"),
        fragments.length
          ? h("div", { class: "fragments", role: "group", "aria-label": "Common fragments" }, ...buttons)
          : h("p", {}, "The trees have no fragment in common."),
      ];
    };
    ask();
    return [form(ask, "Compare", h("div", { class: "columns" }, a.box, b.box), decay.box), task.place];
  },
};

// Drawings of the best trees of a sentence, and the hidden states of a node.

import { type Parse, post, type States } from "../api";
import { h, scroller, show } from "../dom";
import { percent, plural } from "../format";
import { form, select, textArea } from "../parts/fields";
import { stateBars } from "../parts/states";
import { announce, Task } from "../parts/task";
import { type Drawn, drawTree, words } from "../parts/tree";
import type { View } from "./view";

const DECODINGS: Record<string, string> = {
  mbr: "minimum Bayes risk",
  "max-rule": "the best rules",
  viterbi: "probability",
};

export const parse: View = {
  name: "parse",
  title: "Parse",
  lead: "Type a sentence to see its tree. Then choose a node to see its probability and its hidden states.",
  ofSentence: true,
  open: ({ model, query, leaving, remember }) => {
    const task = new Task(leaving);
    const onNode = new Task(leaving);
    const text = textArea("Sentence", query.get("text") ?? "", { rows: 2, placeholder: "the dog saw him ." });
    const k = select(
      "Trees",
      ["1", "5", "10", "20"].map((n) => [n, n === "1" ? "the best" : `the ${n} best`]),
      query.get("k") ?? "5",
      () => ask(),
    );

    const ask = () => {
      const typed = text.input.value.trim();
      if (!typed) return text.input.focus();
      remember({ text: typed, k: k.input.value });
      onNode.clear();
      void task.run(
        (signal) => post<Parse>(`${model.id}/parse`, { text: typed, k: Number(k.input.value) }, signal),
        (answer) => render(answer, typed),
      );
    };

    const choose = (drawn: Drawn, typed: string, isBest: boolean) => {
      const { label, span } = drawn.node;
      const probability = drawn.node.probability ?? null;
      const about = [
        h("h3", {}, label, h("small", {}, ` over “${words(drawn.node)}”`)),
        probability === null ? null : h("p", {}, `Over all trees, the probability of this constituent is ${percent(probability)}.`),
      ];
      if (!span || !isBest || !model.views.includes("states")) {
        onNode.clear();
        show(
          onNode.place,
          ...about,
          isBest ? null : h("p", { class: "hint" }, "Hidden states are shown for the first tree only."),
        );
        announce(`${label} over ${words(drawn.node)}`);
        return;
      }
      void onNode.run(
        (signal) => post<States>(`${model.id}/states`, { text: typed, start: span[0], end: span[1], label }, signal),
        ({ states, states_are: are }) => {
          announce(`${label}: ${plural(states.length, "hidden state")}`);
          return [
            ...about,
            stateBars(states, are ?? "probabilities", `Hidden states of ${label}`),
          ];
        },
        () => about,
      );
    };

    const render = ({ trees, fallback, decoding, gives_probabilities: probable }: Parse, typed: string): (Node | null)[] => {
      const remark = fallback ? h("p", { class: "remark" }, fallback) : null;
      if (!trees.length) return [remark ?? h("p", {}, "There is no tree for this sentence.")];
      const drawing = h("div", { class: "drawing" });
      const pick = (i: number) => {
        const chosen = trees[i];
        if (!chosen) return;
        buttons.forEach((button, j) => button.setAttribute("aria-pressed", String(i === j)));
        onNode.clear();
        const drawn = drawTree(
          chosen.tree,
          `Tree ${i + 1}`,
          (node) => {
            drawn.mark([node.number]);
            choose(node, typed, i === 0);
          },
          // Show only probabilities that are clearly below one.
          ({ probability }) => (typeof probability === "number" && probability < 0.995 ? percent(probability) : null),
        );
        show(
          drawing,
          scroller(`Drawing of tree ${i + 1}`, drawn.svg),
          h("details", {}, h("summary", {}, "As brackets"), h("pre", {}, chosen.brackets)),
        );
      };
      const buttons = trees.map(({ log_probability: log }, i) =>
        h(
          "button",
          { type: "button", class: "step", "aria-pressed": "false", click: () => pick(i) },
          h("span", {}, `Tree ${i + 1}`),
          h("small", {}, log === null ? "" : `${probable ? "log p" : "log score"} ${log.toFixed(1).replace("-", "−")}`),
        ),
      );
      pick(0);
      announce(`${plural(trees.length, "tree")} found`);
      return [
        remark,
        h("div", { class: "steps", role: "group", "aria-label": "The best trees" }, ...buttons),
        drawing,
        h("p", { class: "hint" }, `${decoding && trees.length > 1 ? `The parser chose tree 1 by ${DECODINGS[decoding] ?? decoding}. The others are in the order of their ${probable ? "probability" : "score"}. ` : ""}Arrow keys move in the tree, Enter chooses a node.`),
      ];
    };

    if (text.input.value) ask();
    return [form(ask, "Parse", text.box, k.box), task.place, onNode.place];
  },
};

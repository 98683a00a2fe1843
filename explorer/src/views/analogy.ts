// Analogies: a is to b as c is to …

import { type Analogy, get } from "../api";
import { h } from "../dom";
import { quoted, short } from "../format";
import { bars } from "../parts/bars";
import { combobox } from "../parts/combobox";
import { form } from "../parts/fields";
import { announce, Task } from "../parts/task";
import { href } from "../routes";
import { vocabulary } from "./words";
import type { View } from "./view";

export const analogy: View = {
  name: "analogy",
  title: "Analogies",
  lead: "The words that relate to the third word as the second word relates to the first.",
  open: ({ model, query, leaving, remember }) => {
    const task = new Task(leaving);
    const field = (label: string, key: string) =>
      combobox(label, query.get(key) ?? "", vocabulary(model), leaving);
    const [a, b, c] = [field("As", "a"), field("is to", "b"), field("so is", "c")];

    const ask = () => {
      const words = { a: a.input.value.trim(), b: b.input.value.trim(), c: c.input.value.trim() };
      const empty = [a, b, c].find(({ input }) => !input.value.trim());
      if (empty) return empty.input.focus();
      remember(words);
      void task.run(
        (signal) => get<Analogy>(`${model.id}/analogy`, { ...words, topn: 10 }, signal),
        ({ answers }) => {
          const question = `As ${quoted(words.a)} is to ${quoted(words.b)}, so is ${quoted(words.c)} to`;
          announce(`${question} ${answers[0]?.word ?? "no known word"}`);
          return [
            h("p", { class: "question" }, question, " …"),
            bars(
              answers.map(({ word, score }) => ({
                label: h("a", { href: href(model.id, "neighbors", { word }) }, word),
                value: score,
                text: short(score),
              })),
              { label: "Answers" },
            ),
          ];
        },
      );
    };
    if (a.input.value && b.input.value && c.input.value) ask();
    return [form(ask, "Answer", a.box, b.box, c.box), task.place];
  },
};

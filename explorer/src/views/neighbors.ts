// The nearest neighbors of a word.

import { get, type Neighbors } from "../api";
import { h } from "../dom";
import { plural, times, whole } from "../format";
import { bars } from "../parts/bars";
import { combobox } from "../parts/combobox";
import { form } from "../parts/fields";
import { announce, Task } from "../parts/task";
import { href } from "../routes";
import type { View } from "./view";
import { vocabulary } from "./words";

export const neighbors: View = {
  name: "neighbors",
  title: "Neighbors",
  lead: "The words whose vectors have the most similar direction. They are used in similar ways.",
  open: ({ model, query, leaving, remember }) => {
    const task = new Task(leaving);
    const link = (word: string) => h("a", { href: href(model.id, "neighbors", { word }) }, word);
    const chips = (label: string, words: string[]) =>
      words.length ? h("p", { class: "chips" }, h("span", {}, label), ...words.map(link)) : null;

    const ask = () => {
      const word = input.value.trim();
      if (!word) return;
      remember({ word });
      void task.run(
        (signal) => get<Neighbors>(`${model.id}/neighbors`, { word, topn: 20 }, signal),
        (answer) => {
          announce(`${plural(answer.neighbors.length, "neighbor")} of ${answer.word}`);
          return [
            h(
              "h3",
              {},
              answer.word,
              answer.count ? h("small", {}, ` seen ${times(answer.count)}`) : null,
            ),
            bars(
              answer.neighbors.map(({ word, cosine, count }) => ({
                label: link(word),
                value: cosine,
                text: cosine.toFixed(2),
                aside: count ? whole(count) : null,
              })),
              { label: `Neighbors of ${answer.word}`, most: 1 },
            ),
            h("p", { class: "hint" }, "The cosine of the two vectors, and how often the text has the word."),
          ];
        },
        ({ suggestions }) => [chips("Did you mean", suggestions)],
      );
    };
    const { input, box } = combobox("Word", query.get("word") ?? "", vocabulary(model), leaving, ask);
    if (input.value) {
      ask();
    } else {
      void task.run(
        (signal) => vocabulary(model)("", signal),
        (words) => [chips("Try", words)],
      );
    }
    return [form(ask, "Show", box), task.place];
  },
};

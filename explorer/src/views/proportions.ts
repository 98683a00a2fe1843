// The topics of a document that is pasted.

import { get, post, type Proportions, type Topics } from "../api";
import { h } from "../dom";
import { percent, plural } from "../format";
import { bars } from "../parts/bars";
import { form, textArea } from "../parts/fields";
import { announce, Task } from "../parts/task";
import type { View } from "./view";

export const proportions: View = {
  name: "proportions",
  title: "A document",
  lead: "Paste a document to see how much of each topic is in it.",
  open: ({ model, leaving }) => {
    const task = new Task(leaving);
    const text = textArea("Document", "", { rows: 8 });
    const ask = () => {
      const typed = text.input.value;
      if (!typed.trim()) return text.input.focus();
      void task.run(
        async (signal) =>
          Promise.all([
            post<Proportions>(`${model.id}/proportions`, { text: typed }, signal),
            get<Topics>(`${model.id}/topics`, {}, signal),
          ]),
        ([answer, { topics }]) => {
          const named = new Map(topics.map(({ id, words }) => [id, words.slice(0, 5).map(({ word }) => word).join(", ")]));
          const order = answer.proportions.map((share, id) => ({ share, id })).sort((a, b) => b.share - a.share);
          announce(`Mostly topic ${order[0]?.id ?? 0}`);
          return [
            h("p", {}, `${plural(answer.known_words, "word")} known to the model, ${answer.unknown_words} unknown.`),
            bars(
              order.slice(0, 20).map(({ share, id }) => ({ label: `Topic ${id}`, value: share, text: percent(share), aside: named.get(id) })),
              { label: "Proportions of topics", most: 1 },
            ),
          ];
        },
      );
    };
    return [form(ask, "Show", text.box), task.place];
  },
};

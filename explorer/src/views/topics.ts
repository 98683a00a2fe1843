// Topics by size, with their words and, if the server has documents, typical ones.

import { type Documents, get, type Topics } from "../api";
import { h } from "../dom";
import { percent, plural, whole } from "../format";
import { bar, bars } from "../parts/bars";
import { announce, Task } from "../parts/task";
import type { Context, View } from "./view";

function typical({ model, leaving }: Context, topic: number): HTMLElement {
  const task = new Task(leaving);
  let asked = false;
  return h(
    "details",
    {
      toggle: (event: Event) => {
        if (asked || !(event.target as HTMLDetailsElement).open) return;
        asked = true;
        void task.run(
          (signal) => get<Documents>(`${model.id}/topics/${topic}/documents`, {}, signal),
          ({ documents, why }) => [
            documents.length
              ? h(
                  "ul",
                  { class: "documents" },
                  ...documents.map(({ text, share }) => h("li", {}, h("small", {}, percent(share)), h("p", {}, text))),
                )
              : h("p", { class: "hint" }, why ?? "There are no documents with this model."),
          ],
        );
      },
    },
    h("summary", {}, "Typical documents"),
    task.place,
  );
}

export const topics: View = {
  name: "topics",
  title: "Topics",
  lead: "The topics of the documents, the largest first.",
  open: (context) => {
    const task = new Task(context.leaving);
    void task.run(
      (signal) => get<Topics>(`${context.model.id}/topics`, {}, signal),
      ({ topics, n_documents: n }) => {
        const sorted = [...topics].sort((a, b) => b.share - a.share);
        announce(plural(topics.length, "topic"));
        return [
          h("p", {}, plural(topics.length, "topic"), n ? ` of ${whole(n)} documents.` : "."),
          h(
            "ol",
            { class: "cards" },
            ...sorted.map(({ id, share, words }) =>
              h(
                "li",
                { class: "card" },
                h("h3", {}, `Topic ${id}`, h("small", {}, ` ${percent(share)} of all`)),
                bar(share / (sorted[0]?.share || 1)),
                bars(
                  words.slice(0, 10).map(({ word, probability }) => ({ label: word, value: probability, text: percent(probability) })),
                  { label: `Words of topic ${id}` },
                ),
                typical(context, id),
              ),
            ),
          ),
        ];
      },
    );
    return [task.place];
  },
};

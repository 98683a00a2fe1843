// The tags of the words of a sentence.

import { post, type Tags } from "../api";
import { h } from "../dom";
import { percent, plural } from "../format";
import { form, textArea } from "../parts/fields";
import { announce, Task } from "../parts/task";
import type { View } from "./view";

export const tag: View = {
  name: "tag",
  title: "Tag",
  lead: "Type a sentence to see the tag of each word, and how sure the model is.",
  open: ({ model, query, leaving, remember }) => {
    const task = new Task(leaving);
    const text = textArea("Sentence", query.get("text") ?? "", { rows: 2 });
    const ask = () => {
      const typed = text.input.value.trim();
      if (!typed) return text.input.focus();
      remember({ text: typed });
      void task.run(
        (signal) => post<Tags>(`${model.id}/tag`, { text: typed }, signal),
        ({ tokens }) => {
          announce(plural(tokens.length, "tagged word"));
          return [
            h(
              "ol",
              { class: "tagged", "aria-label": "Tagged words" },
              ...tokens.map(({ word, tag, confidence }) =>
                h(
                  "li",
                  { class: tag === "O" ? "outside" : null },
                  h("span", {}, word),
                  h("b", {}, tag),
                  typeof confidence === "number" ? h("small", {}, percent(confidence)) : null,
                ),
              ),
            ),
          ];
        },
      );
    };
    if (text.input.value) ask();
    return [form(ask, "Tag", text.box), task.place];
  },
};

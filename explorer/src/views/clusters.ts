// All clusters of words with their bit strings, or the cluster of one word.

import { type Clusters, get } from "../api";
import { h } from "../dom";
import { plural } from "../format";
import { combobox } from "../parts/combobox";
import { form } from "../parts/fields";
import { announce, Task } from "../parts/task";
import { href } from "../routes";
import type { View } from "./view";
import { vocabulary } from "./words";

export const clusters: View = {
  name: "clusters",
  title: "Clusters",
  lead: "Each cluster has words of similar use. Clusters whose bits begin alike are near each other in the tree.",
  open: ({ model, query, leaving, remember }) => {
    const task = new Task(leaving);
    const ask = () => {
      const word = input.value.trim();
      remember(word ? { word } : {});
      void task.run(
        (signal) => get<Clusters>(`${model.id}/clusters`, word ? { word, topn: 100 } : { topn: 12 }, signal),
        ({ clusters, n_clusters: n }) => {
          announce(word ? `The cluster of ${word}` : plural(clusters.length, "cluster"));
          return [
            !word && clusters.length < n ? h("p", {}, `The first ${clusters.length} of ${plural(n, "cluster")}.`) : null,
            clusters.length
              ? h(
                  "ol",
                  { class: "cards" },
                  ...clusters.map(({ bits, size, words }) =>
                    h(
                      "li",
                      { class: "card" },
                      h("h3", {}, h("code", {}, bits || "·"), h("small", {}, ` ${plural(size, "word")}`)),
                      h("p", { class: "chips" }, ...words.map(({ word }) => h("a", { href: href(model.id, "clusters", { word }) }, word))),
                    ),
                  ),
                )
              : h("p", {}, "This word is in no cluster."),
          ];
        },
        ({ suggestions }) => [
          suggestions.length
            ? h("p", { class: "chips" }, h("span", {}, "Did you mean"), ...suggestions.map((near) => h("a", { href: href(model.id, "clusters", { word: near }) }, near)))
            : null,
        ],
      );
    };
    const { input, box } = combobox("Word (empty for all clusters)", query.get("word") ?? "", vocabulary(model), leaving, ask);
    ask();
    return [form(ask, "Show", box), task.place];
  },
};

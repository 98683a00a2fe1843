// Facts about the model, and its findings in plain words.

import { h, scroller } from "../dom";
import type { View } from "./view";

const LEVELS = { note: "Note", warning: "Warning", problem: "Problem" };

function inWords(value: unknown): string {
  if (value === null || value === undefined) return "none";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function table(caption: string, rows: [string, string][]): HTMLElement | null {
  if (!rows.length) return null;
  return h(
    "section",
    {},
    h("h3", {}, caption),
    scroller(
      caption,
      h(
        "table",
        { class: "facts" },
        h("tbody", {}, ...rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value)))),
      ),
    ),
  );
}

export const about: View = {
  name: "about",
  title: "About",
  lead: "Facts about the model, and what it says about itself.",
  open: ({ model }) => [
    h(
      "section",
      {},
      h("h3", {}, "Findings"),
      model.diagnostics.length
        ? h(
            "ul",
            { class: "diagnostics" },
            ...model.diagnostics.map(({ text, level }) =>
              h("li", { class: level }, h("strong", {}, LEVELS[level]), h("span", {}, text)),
            ),
          )
        : h("p", {}, "There are no findings."),
    ),
    h(
      "div",
      { class: "columns" },
      table("Facts", model.facts),
      table(
        "Parameters",
        Object.entries(model.parameters).map(([name, value]) => [name, inWords(value)]),
      ),
    ),
  ],
};

// The next word after each word of a sentence, and the hidden state there.

import { post, type Step, type Steps } from "../api";
import { h, s, scroller, show } from "../dom";
import { percent, plural, short } from "../format";
import { bars } from "../parts/bars";
import { form, textField } from "../parts/fields";
import { stateBars } from "../parts/states";
import { announce, Task } from "../parts/task";
import type { View } from "./view";

const MOST_STATES = 40;

/** The states with the largest values in any step, in the order of their numbers. */
function shownStates(steps: Step[]): number[] {
  const n = steps.find((step) => step.state)?.state?.length ?? 0;
  const mass = Array.from({ length: n }, (_, i) => Math.max(...steps.map((step) => Math.abs(step.state?.[i] ?? 0))));
  const order = mass.map((_, i) => i).sort((i, j) => (mass[j] ?? 0) - (mass[i] ?? 0));
  return order.slice(0, MOST_STATES).sort((i, j) => i - j);
}

function heat(steps: Step[], states: number[]): SVGSVGElement {
  const [left, wide, high] = [42, 58, states.length > 20 ? 10 : 18];
  const [width, height] = [left + wide * steps.length, high * states.length + 26];
  const largest = Math.max(...steps.flatMap((step) => (step.state ?? []).map(Math.abs)), 1e-12);
  const svg = s("svg", { class: "heat", viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
  svg.setAttribute("aria-label", "The filtered state after each word. Choose a step to read its numbers");
  steps.forEach((step, t) => {
    states.forEach((state, row) => {
      const value = step.state?.[state];
      if (value === undefined) return;
      const cell = s("rect", {
        class: value < 0 ? "negative" : null,
        x: left + t * wide,
        y: row * high,
        width: wide - 2,
        height: high - 2,
        rx: 2,
        "fill-opacity": 0.04 + (0.96 * Math.abs(value)) / largest,
      });
      cell.append(s("title", {}, `${state} after ${step.word ?? "the start"}: ${short(value)}`));
      svg.append(cell);
    });
    const word = step.word ?? "start";
    svg.append(s("text", { class: "tick", x: left + t * wide + wide / 2, y: height - 8, "text-anchor": "middle" }, word.length > 8 ? word.slice(0, 7) + "…" : word));
  });
  const every = high < 14 ? 4 : 1;
  states.forEach((state, row) => {
    if (row % every === 0) svg.append(s("text", { class: "tick", x: left - 8, y: row * high + high / 2 + 3, "text-anchor": "end" }, state));
  });
  return svg;
}

export const next: View = {
  name: "next",
  title: "Next words",
  lead: "Type a sentence. Then choose a place in it to see which words the model expects next.",
  open: ({ model, query, leaving, remember }) => {
    const task = new Task(leaving);
    const text = textField("Sentence", query.get("text") ?? "", { placeholder: "the old man" });
    text.box.classList.add("wide");

    const ask = () => {
      const typed = text.input.value.trim();
      if (!typed) return text.input.focus();
      remember({ text: typed });
      void task.run(
        (signal) => post<Steps>(`${model.id}/next`, { text: typed }, signal),
        ({ steps, states: are }) => {
          const detail = h("div", { class: "columns" });
          const states = shownStates(steps);
          const buttons = steps.map((step, t) => {
            const chance = steps[t - 1]?.next.find(({ word }) => word === step.word)?.probability;
            const under = step.word === null ? "" : step.known === false ? "unknown" : chance === undefined ? "" : percent(chance);
            return h(
              "button",
              { type: "button", class: "step", "aria-pressed": "false", click: () => choose(t) },
              h("span", {}, step.word ?? "start"),
              h("small", {}, under),
            );
          });
          const choose = (t: number) => {
            buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === t)));
            const step = steps[t];
            if (!step) return;
            const before = steps.slice(1, t + 1).map(({ word }) => word).join(" ");
            const after = before ? `After “${before}”` : "At the start";
            announce(`${after}: ${step.next.slice(0, 3).map(({ word }) => word).join(", ")}`);
            show(
              detail,
              h(
                "section",
                {},
                h("h3", {}, after),
                bars(
                  step.next.map(({ word, probability }) => ({ label: word, value: probability, text: percent(probability) })),
                  { label: `${after}, the next word` },
                ),
              ),
              step.state
                ? h(
                    "section",
                    {},
                    h("h3", {}, "Filtered state"),
                    stateBars(step.state, are ?? "probabilities", `${after}, the filtered state`),
                  )
                : null,
            );
          };
          choose(steps.length - 1);
          return [
            h("div", { class: "steps", role: "group", "aria-label": "Places in the sentence" }, ...buttons),
            detail,
            states.length
              ? h(
                  "section",
                  {},
                  h("h3", {}, "The state along the sentence"),
                  scroller("The state along the sentence", heat(steps, states)),
                  h("p", { class: "hint" }, `${plural(states.length, are === "coordinates" ? "coordinate" : "state")}, one in each row. A stronger color means a larger value.`),
                )
              : null,
          ];
        },
      );
    };
    if (text.input.value) ask();
    return [form(ask, "Show", text.box), task.place];
  },
};

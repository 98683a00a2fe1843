// The probability of each label over each span, drawn as the chart of a parser.

import { type Marginals, post, type Span } from "../api";
import { h, s, scroller, show } from "../dom";
import { percent, plural } from "../format";
import { bars } from "../parts/bars";
import { form, textArea } from "../parts/fields";
import { announce, Task } from "../parts/task";
import type { View } from "./view";

const LEAST = 0.01;
const [WIDE, HIGH] = [76, 40];

function cells(spans: Span[]): Map<string, Span[]> {
  const found = new Map<string, Span[]>();
  for (const span of [...spans].sort((a, b) => b.probability - a.probability)) {
    if (span.probability < LEAST) continue;
    const key = `${span.start},${span.end}`;
    found.set(key, [...(found.get(key) ?? []), span]);
  }
  return found;
}

export const marginals: View = {
  name: "marginals",
  title: "Span chart",
  lead: "The probability of each constituent. A cell stands for a span of words; longer spans are higher up.",
  ofSentence: true,
  open: ({ model, query, leaving, remember }) => {
    const task = new Task(leaving);
    const text = textArea("Sentence", query.get("text") ?? "", { rows: 2, placeholder: "the dog saw him ." });

    const render = ({ tokens, spans }: Marginals): (Node | null)[] => {
      const found = cells(spans);
      if (!found.size) return [h("p", {}, "The grammar has no tree for this sentence, so there are no constituents.")];
      const n = tokens.length;
      const [width, height] = [n * WIDE, n * HIGH + 30];
      const detail = h("section", {});
      const svg = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": "Chart of spans" });
      const shapes: { start: number; end: number; shape: SVGGElement }[] = [];
      let stop: SVGGElement | null = null;

      const choose = (shape: SVGGElement, start: number, end: number) => {
        const inside = found.get(`${start},${end}`) ?? [];
        stop?.setAttribute("tabindex", "-1");
        stop = shape;
        shape.setAttribute("tabindex", "0");
        for (const other of shapes) other.shape.classList.toggle("marked", other.shape === shape);
        show(
          detail,
          h("h3", {}, `“${tokens.slice(start, end).join(" ")}”`),
          bars(
            inside.map(({ label, probability }) => ({ label, value: probability, text: percent(probability) })),
            { label: "Labels of this span", most: 1 },
          ),
        );
      };
      const walk = (start: number, end: number, dx: number, dy: number) => {
        // Go to the nearest cell in the direction of the arrow. Cells may be far apart.
        const here = [(start + end) / 2, end - start] as const;
        let best: SVGGElement | null = null;
        let least = Infinity;
        for (const other of shapes) {
          const [x, y] = [(other.start + other.end) / 2 - here[0], other.end - other.start - here[1]];
          const along = dx * x + dy * y;
          const across = Math.abs(dx ? y : x);
          if (along > 0 && along + 2 * across < least) {
            least = along + 2 * across;
            best = other.shape;
          }
        }
        best?.focus();
      };

      for (let start = 0; start < n; start++) {
        for (let end = start + 1; end <= n; end++) {
          const [x, y] = [((start + end) / 2) * WIDE, (n - (end - start)) * HIGH];
          const best = found.get(`${start},${end}`)?.[0];
          if (!best) {
            if (n <= 40) svg.append(s("circle", { class: "empty", cx: x, cy: y + HIGH / 2, r: 1.5 }));
            continue;
          }
          const shape = s(
            "g",
            {
              class: "cell",
              role: "button",
              tabindex: -1,
              transform: `translate(${x} ${y})`,
              "aria-label": `${tokens.slice(start, end).join(" ")}: ${best.label}, ${percent(best.probability)}`,
              click: () => choose(shape, start, end),
              focus: () => choose(shape, start, end),
              keydown: (event: KeyboardEvent) => {
                const ways: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
                const way = ways[event.key];
                if (!way) return;
                event.preventDefault();
                walk(start, end, ...way);
              },
            },
            // The color is light, so that the text keeps its contrast at any probability.
            s("rect", { x: -WIDE / 2 + 2, y: 2, width: WIDE - 4, height: HIGH - 4, rx: 5, "fill-opacity": 0.05 + 0.3 * best.probability }),
            s("text", { class: "name", y: 18, "text-anchor": "middle" }, best.label.length > 9 ? best.label.slice(0, 8) + "…" : best.label),
            s("text", { class: "share", y: 32, "text-anchor": "middle" }, percent(best.probability)),
          );
          shapes.push({ start, end, shape });
          svg.append(shape);
        }
      }
      tokens.forEach((token, i) => {
        svg.append(s("text", { class: "token", x: (i + 0.5) * WIDE, y: height - 10, "text-anchor": "middle" }, token.length > 10 ? token.slice(0, 9) + "…" : token));
      });
      const widest = shapes.reduce((a, b) => (b.end - b.start > a.end - a.start ? b : a));
      choose(widest.shape, widest.start, widest.end);
      announce(`${plural(shapes.length, "span")} of at least ${percent(LEAST)}`);
      return [
        scroller("Chart of spans", svg),
        h("p", { class: "hint" }, "Each cell shows its most probable label. Arrow keys move from cell to cell."),
        detail,
      ];
    };

    const ask = () => {
      const typed = text.input.value.trim();
      if (!typed) return text.input.focus();
      remember({ text: typed });
      void task.run((signal) => post<Marginals>(`${model.id}/marginals`, { text: typed }, signal), render);
    };
    if (text.input.value) ask();
    return [form(ask, "Show", text.box), task.place];
  },
};

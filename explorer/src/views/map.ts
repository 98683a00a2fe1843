// A map of the words in two dimensions.

import { get, type Point, type WordMap } from "../api";
import { h, s, show } from "../dom";
import { plural, times, whole } from "../format";
import { Camera } from "../parts/camera";
import { combobox } from "../parts/combobox";
import { form, select } from "../parts/fields";
import { canvasLayer, type Group, MOST_IN_SVG, svgLayer } from "../parts/points";
import { announce, Task } from "../parts/task";
import { href } from "../routes";
import type { Context, View } from "./view";

const COLORS = 12;
const CLASSES = 5; // of frequency
const MOST_LABELS = 70;

function grouped<K>(points: Point[], key: (point: Point, index: number) => K): Map<K, Point[]> {
  const groups = new Map<K, Point[]>();
  points.forEach((point, i) => {
    const k = key(point, i);
    const group = groups.get(k);
    if (group) group.push(point);
    else groups.set(k, [point]);
  });
  return groups;
}

function drawMap({ model, leaving }: Context, points: Point[]): { controls: Node[]; picture: Node[] } {
  const frequent = [...points].sort((a, b) => (b.count ?? 0) - (a.count ?? 0));
  const clusters = grouped(frequent, ({ cluster }) => cluster);
  const rank = new Map(frequent.map((point, i) => [point, i]));
  const layer = points.length > MOST_IN_SVG ? canvasLayer() : svgLayer();
  const labels = s("svg", { class: "labels", "aria-hidden": "true" });
  const picture = h(
    "div",
    { class: "map", tabindex: 0, role: "application", "aria-label": `Map of ${plural(points.length, "word")}`, "aria-describedby": "map-keys" },
    layer.element,
    labels,
  );
  const about = h("p", { class: "chosen" }, "Choose a point to see its word.");
  let chosen: Point | null = null;
  let only: number | null = null;
  let coloring = "cluster";

  const color = () => {
    const groups: Group[] = [];
    if (coloring === "cluster") {
      for (const [cluster, members] of clusters) {
        groups.push({ color: `c${((cluster % COLORS) + COLORS) % COLORS}`, faded: only !== null && only !== cluster, points: members });
      }
    } else {
      const classes = grouped(frequent, (_, i) => Math.floor((CLASSES * i) / frequent.length));
      for (const [level, members] of [...classes].reverse()) groups.push({ color: `f${level}`, faded: false, points: members });
    }
    // The faded points come first, so that they cover no others.
    layer.fill(groups.sort((a, b) => Number(b.faded) - Number(a.faded)));
    redraw();
  };

  let frame = 0;
  const redraw = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(draw);
  };
  const camera = new Camera(redraw);

  const draw = () => {
    layer.draw(camera);
    labels.replaceChildren();
    // Frequent words come first. A word is shown if no other word is in its place yet.
    const taken = new Set<string>();
    const place = (point: Point, force: boolean): boolean => {
      const [x, y] = camera.toScreen(point.x, point.y);
      if (x < 0 || y < 8 || x > camera.width - 10 || y > camera.height - 4) return false;
      const wide = Math.ceil((8 * point.word.length + 12) / 12);
      const [column, row] = [Math.floor(x / 12), Math.floor(y / 15)];
      const boxes = Array.from({ length: wide }, (_, i) => [-1, 0].map((d) => `${column + i},${row + d}`)).flat();
      if (!force && boxes.some((box) => taken.has(box))) return false;
      boxes.forEach((box) => taken.add(box));
      labels.append(s("text", { class: force ? "found" : null, x: x + 6, y: y + 4 }, point.word));
      return true;
    };
    if (chosen) {
      const [cx, cy] = camera.toScreen(chosen.x, chosen.y);
      labels.append(s("circle", { class: "ring", cx, cy, r: 7 }));
      place(chosen, true);
    }
    let placed = 0;
    for (const point of frequent) {
      if (placed >= MOST_LABELS) break;
      if (point === chosen || (only !== null && point.cluster !== only)) continue;
      if (place(point, false)) placed++;
    }
  };

  const choose = (point: Point, come: boolean) => {
    chosen = point;
    const count = point.count ? `, seen ${times(point.count)}` : "";
    show(
      about,
      h("strong", {}, point.word),
      `${count}, cluster ${point.cluster}, rank ${whole((rank.get(point) ?? 0) + 1)} here. `,
      model.views.includes("neighbors") ? h("a", { href: href(model.id, "neighbors", { word: point.word }) }, "Its neighbors") : null,
    );
    announce(`${point.word}${count}`);
    if (come) camera.lookAt(point.x, point.y, 6);
    else redraw();
  };
  camera.follow(picture, (px, py) => {
    let best: Point | null = null;
    let least = 24 ** 2;
    for (const point of points) {
      if (only !== null && point.cluster !== only) continue;
      const [x, y] = camera.toScreen(point.x, point.y);
      const distance = (x - px) ** 2 + (y - py) ** 2;
      if (distance < least) [best, least] = [point, distance];
    }
    if (best) choose(best, false);
  });

  const search = () => {
    const typed = find.input.value.trim();
    if (!typed) return;
    const lower = typed.toLowerCase();
    const point =
      frequent.find(({ word }) => word === typed) ?? frequent.find(({ word }) => word.toLowerCase().startsWith(lower));
    if (point) choose(point, true);
    else {
      show(about, `“${typed}” is not among the words of this map. Show more words, or try another word.`);
      announce(`${typed} is not on the map`);
    }
  };
  const find = combobox(
    "Find a word",
    "",
    (prefix) => {
      const lower = prefix.toLowerCase();
      return Promise.resolve(frequent.map(({ word }) => word).filter((word) => word.toLowerCase().startsWith(lower)).slice(0, 12));
    },
    leaving,
    search,
  );
  const legend = h("div", { class: "clusters", role: "group", "aria-label": "Clusters" });
  const keys = [...clusters].sort((a, b) => a[0] - b[0]);
  const buttons = keys.map(([cluster, members]) =>
    h(
      "button",
      {
        type: "button",
        "aria-pressed": "false",
        click: () => {
          only = only === cluster ? null : cluster;
          buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(keys[i]?.[0] === only)));
          color();
        },
      },
      h("i", { class: `c${((cluster % COLORS) + COLORS) % COLORS}` }),
      members.slice(0, 3).map(({ word }) => word).join(", "),
    ),
  );
  legend.append(...buttons);
  const colors = select("Color by", [["cluster", "cluster"], ["frequency", "frequency"]], coloring, (value) => {
    coloring = value;
    only = null;
    buttons.forEach((button) => button.setAttribute("aria-pressed", "false"));
    legend.hidden = value !== "cluster";
    color();
  });

  const watch = new ResizeObserver(() => camera.resize(picture.clientWidth, picture.clientHeight));
  watch.observe(picture);
  const theme = new MutationObserver(redraw); // a canvas does not follow the theme
  theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", redraw);
  leaving.addEventListener("abort", () => {
    watch.disconnect();
    theme.disconnect();
    system.removeEventListener("change", redraw);
    cancelAnimationFrame(frame);
  });
  color();
  announce(`Map of ${plural(points.length, "word")} in ${plural(clusters.size, "cluster")}`);

  const button = (sign: string, label: string, act: () => void) =>
    h("button", { type: "button", class: "quiet", "aria-label": label, title: label, click: act }, sign);
  const parts = [
    h(
      "div",
      { class: "map-frame" },
      picture,
      h(
        "div",
        { class: "zoom" },
        button("+", "Zoom in", () => camera.zoomBy(1.5)),
        button("−", "Zoom out", () => camera.zoomBy(1 / 1.5)),
        button("⌂", "Whole map", () => camera.reset()),
      ),
    ),
    about,
    legend,
    h("p", { class: "hint", id: "map-keys" }, "Move the map by dragging, with the wheel or with two fingers. Keys when the map has the focus: arrows move, + and − zoom, 0 shows the whole map, Enter chooses the word in the middle."),
  ];
  return { controls: [form(search, "Find", find.box), colors.box], picture: parts };
}

export const map: View = {
  name: "map",
  title: "Map",
  lead: "The frequent words in two dimensions. Words of one color are in one cluster.",
  open: (context) => {
    const task = new Task(context.leaving);
    const controls = h("div", { class: "controls" });
    const load = (n: string) => {
      show(controls);
      void task.run(
        (signal) => get<WordMap>(`${context.model.id}/map`, { n }, signal),
        ({ points }) => {
          if (!points.length) return [h("p", {}, "There are no words to show.")];
          const drawn = drawMap(context, points);
          show(controls, ...drawn.controls);
          return drawn.picture;
        },
      );
    };
    const amount = select("Words", [["500", "500"], ["2000", "2,000"], ["5000", "5,000"]], "2000", load);
    load("2000");
    return [h("div", { class: "row" }, controls, amount.box), task.place];
  },
};

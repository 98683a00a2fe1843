// A drawing of a tree in SVG. The words are in a line at the bottom, and each node is above the
// middle of its words. Lines spread directly below a node and then go straight down, so that no line
// crosses another label. The Tab key stops once at the tree; arrow keys go to the parent, a child or
// a sister, and Enter chooses a node.

import type { TreeNode } from "../api";
import { s } from "../dom";

export interface Drawn {
  node: TreeNode;
  number: number; // in pre-order, words included
  parent: Drawn | null;
  children: Drawn[];
  x: number;
  level: number; // the length of the longest path down to a word
  shape: SVGGElement;
  edge: SVGPathElement | null; // to the parent
}

export interface TreeDrawing {
  svg: SVGSVGElement;
  nodes: Drawn[];
  mark: (numbers: Iterable<number>) => void;
}

const RISE = 54;
const GAP = 20;
const measure = document.createElement("canvas").getContext("2d");

function widthOf(label: string, size = 16): number {
  if (!measure) return 0.6 * size * label.length;
  measure.font = `${size}px Georgia, serif`;
  return measure.measureText(label).width;
}

/** The words below a node, in their order. */
export function words(node: TreeNode): string {
  return node.children?.length ? node.children.map(words).join(" ") : node.label;
}

export function drawTree(
  root: TreeNode,
  label: string,
  choose?: (drawn: Drawn) => void,
  note: (node: TreeNode) => string | null = () => null, // beside the label
): TreeDrawing {
  const nodes: Drawn[] = [];
  let right = 0;

  const place = (node: TreeNode, parent: Drawn | null): Drawn => {
    const drawn: Drawn = { node, number: nodes.length, parent, children: [], x: 0, level: 0, shape: s("g"), edge: null };
    nodes.push(drawn);
    const left = right;
    drawn.children = (node.children ?? []).map((child) => place(child, drawn));
    const first = drawn.children[0];
    const last = drawn.children.at(-1);
    const width = widthOf(node.label) + 2.4 * widthOf(note(node) ?? "", 11) + GAP;
    if (first && last) {
      drawn.level = 1 + Math.max(...drawn.children.map((child) => child.level));
      // If a label is wider than its words, move these to its middle.
      const spare = left + width - right;
      if (spare > 0) {
        shift(drawn, spare / 2);
        right += spare;
      }
      drawn.x = (first.x + last.x) / 2;
    } else {
      right += width;
      drawn.x = left + width / 2;
    }
    return drawn;
  };
  const shift = (drawn: Drawn, by: number): void => {
    for (const child of drawn.children) {
      child.x += by;
      shift(child, by);
    }
  };

  const top = place(root, null);
  const y = (drawn: Drawn) => (top.level - drawn.level) * RISE + 22;
  const width = Math.max(right, 40);
  const height = top.level * RISE + 44;
  const svg = s("svg", {
    class: "tree",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: choose ? "group" : "img",
    "aria-label": label,
  });

  for (const drawn of nodes) {
    for (const child of drawn.children) {
      child.edge = s("path", { class: "edge", d: `M${drawn.x} ${y(drawn) + 9}L${child.x} ${y(drawn) + RISE - 17}V${y(child) - 17}` });
      svg.append(child.edge);
    }
  }
  let stop = top;
  const focus = (drawn: Drawn | null | undefined) => {
    if (!drawn || !drawn.children.length) return;
    stop.shape.setAttribute("tabindex", "-1");
    stop = drawn;
    stop.shape.setAttribute("tabindex", "0");
    stop.shape.focus();
  };
  for (const drawn of nodes) {
    const { node, shape } = drawn;
    const inner = drawn.children.length > 0;
    const extra = note(node);
    shape.setAttribute("class", inner ? "node" : "node word");
    shape.setAttribute("transform", `translate(${drawn.x} ${y(drawn)})`);
    const half = widthOf(node.label) / 2 + 5;
    shape.append(s("rect", { x: -half, y: -15, width: 2 * half, height: 22, rx: 5 }));
    shape.append(s("text", { "text-anchor": "middle", y: 1 }, node.label));
    if (extra) shape.append(s("text", { class: "note", x: half + 1, y: -6 }, extra));
    if (choose && inner) {
      shape.setAttribute("role", "button");
      shape.setAttribute("tabindex", drawn === top ? "0" : "-1");
      shape.setAttribute("aria-label", `${node.label} over “${words(node)}”`);
      shape.addEventListener("click", () => {
        focus(drawn);
        choose(drawn);
      });
      shape.addEventListener("keydown", (event) => {
        const sisters = drawn.parent?.children.filter((child) => child.children.length) ?? [];
        const here = sisters.indexOf(drawn);
        const go: Record<string, () => void> = {
          ArrowUp: () => focus(drawn.parent),
          ArrowDown: () => focus(drawn.children.find((child) => child.children.length)),
          ArrowLeft: () => focus(sisters[here - 1]),
          ArrowRight: () => focus(sisters[here + 1]),
          Enter: () => choose(drawn),
          " ": () => choose(drawn),
        };
        const act = go[event.key];
        if (!act) return;
        event.preventDefault();
        act();
      });
    }
    svg.append(shape);
  }

  const mark = (numbers: Iterable<number>) => {
    const chosen = new Set(numbers);
    for (const { number, shape, edge, parent } of nodes) {
      shape.classList.toggle("marked", chosen.has(number));
      edge?.classList.toggle("marked", chosen.has(number) && chosen.has(parent?.number ?? -1));
    }
  };
  return { svg, nodes, mark };
}

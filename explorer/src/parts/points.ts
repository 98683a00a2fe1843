// Points of a plane in coloured groups: SVG for some thousands, a canvas beyond.

import { h, s } from "../dom";
import type { Camera } from "./camera";

export interface Group { colour: string; faded: boolean; points: { x: number; y: number }[] }

export interface Layer {
  element: SVGSVGElement | HTMLCanvasElement;
  fill: (groups: Group[]) => void;
  draw: (camera: Camera) => void;
}

export const MOST_IN_SVG = 3000;

export function svgLayer(): Layer {
  const plane = s("g");
  const element = s("svg", { class: "points", "aria-hidden": "true" }, plane);
  return {
    element,
    // One path to a group: lines of no length, whose round ends are the points at any zoom.
    fill: (groups) =>
      plane.replaceChildren(
        ...groups.map(({ colour, faded, points }) =>
          s("path", {
            class: `${colour}${faded ? " faded" : ""}`,
            d: points.map(({ x, y }) => `M${x.toFixed(5)} ${(-y).toFixed(5)}h0`).join(""),
          }),
        ),
      ),
    draw: (camera) => {
      const [x, y] = camera.toScreen(0, 0);
      plane.setAttribute("transform", `translate(${x} ${y}) scale(${camera.scale})`);
    },
  };
}

export function canvasLayer(): Layer {
  const element = h("canvas", { class: "points", "aria-hidden": "true" });
  const context = element.getContext("2d");
  let groups: Group[] = [];
  return {
    element,
    fill: (given) => {
      groups = given;
    },
    draw: (camera) => {
      if (!context) return;
      const dense = window.devicePixelRatio || 1;
      [element.width, element.height] = [camera.width * dense, camera.height * dense];
      context.setTransform(dense, 0, 0, dense, 0, 0);
      for (const { colour, faded, points } of groups) {
        // The style sheet owns the colours; a canvas has to be told them.
        element.setAttribute("class", `points ${colour}`);
        context.fillStyle = getComputedStyle(element).color;
        context.globalAlpha = faded ? 0.12 : 0.85;
        for (const { x, y } of points) {
          const [px, py] = camera.toScreen(x, y);
          if (px < -4 || py < -4 || px > camera.width + 4 || py > camera.height + 4) continue;
          context.beginPath();
          context.arc(px, py, 2.2, 0, 7);
          context.fill();
        }
      }
      element.setAttribute("class", "points");
    },
  };
}

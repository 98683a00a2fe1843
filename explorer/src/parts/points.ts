// Points of a plane in colored groups: in SVG up to some thousands, otherwise on a canvas.

import { h, s } from "../dom";
import type { Camera } from "./camera";

export interface Group { color: string; faded: boolean; points: { x: number; y: number }[] }

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
    // A group is one path of lines without length. Their round ends are the points, at any zoom.
    fill: (groups) =>
      plane.replaceChildren(
        ...groups.map(({ color, faded, points }) =>
          s("path", {
            class: `${color}${faded ? " faded" : ""}`,
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
      for (const { color, faded, points } of groups) {
        // The style sheet has the colors, and a canvas cannot read it.
        element.setAttribute("class", `points ${color}`);
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

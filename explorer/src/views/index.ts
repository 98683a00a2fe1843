// All views, in the order of the tabs.

import type { Model } from "../api";
import { about } from "./about";
import { analogy } from "./analogy";
import { clusters } from "./clusters";
import { kernel } from "./kernel";
import { map } from "./map";
import { marginals } from "./marginals";
import { neighbors } from "./neighbors";
import { next } from "./next";
import { parse } from "./parse";
import { proportions } from "./proportions";
import { spectrum } from "./spectrum";
import { tag } from "./tag";
import { topics } from "./topics";
import type { View } from "./view";

const VIEWS = [about, neighbors, analogy, map, clusters, next, parse, marginals, topics, proportions, kernel, tag, spectrum];

/** The views of a model: "about", and those that the server names. */
export function viewsOf(model: Model): View[] {
  return VIEWS.filter(({ name }) => name === "about" || model.views.includes(name));
}

export { kernel };

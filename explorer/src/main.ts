// The frame of the page: the models at the side, the views of a model on top, and one view.

import "./style.css";
import { get, type Model } from "./api";
import { h, show } from "./dom";
import { Task } from "./parts/task";
import { currentRoute, href } from "./routes";
import { themeButton } from "./theme";
import { kernel, viewsOf } from "./views";
import type { View } from "./views/view";

const KINDS: Record<string, string> = {
  words: "Word vectors",
  clusters: "Word clusters",
  eigentokens: "Token vectors",
  hmm: "Hidden Markov model",
  bigram: "Bigram model",
  "class-bigram": "Class bigram model",
  automaton: "Weighted automaton",
  "kneser-ney": "N-gram model",
  grammar: "Grammar",
  topics: "Topics",
  reranker: "Reranker",
  tagger: "Tagger",
  other: "Other",
};
// The tree kernel needs no model, but a view always gets one.
const NO_MODEL: Model = { id: -1, name: "Trees", kind: "other", title: "", parameters: {}, facts: [], diagnostics: [], views: [] };

const side = h("nav", { class: "models", "aria-label": "Models" });
const main = h("main", { id: "main", tabindex: -1 });

function frame(): void {
  const skip = h(
    "a",
    {
      class: "skip",
      href: "#main",
      click: (event: Event) => {
        event.preventDefault(); // because the hash of the address is the route
        main.focus();
      },
    },
    "Skip to the content",
  );
  show(
    document.body,
    skip,
    h("header", {}, h("p", { class: "brand" }, h("a", { href: "#/" }, "eigentext", h("span", {}, " explorer"))), themeButton()),
    h("div", { class: "frame" }, side, main),
    h("p", { id: "status", class: "unseen", role: "status", "aria-live": "polite" }),
  );
}

function start(models: Model[]): void {
  const links = new Map<string, HTMLElement>();
  const entry = (key: string, to: string, name: string, kind: string) => {
    const link = h("a", { href: to }, h("span", {}, name), h("small", {}, kind));
    links.set(key, link);
    return h("li", {}, link);
  };
  show(
    side,
    h(
      "ul",
      {},
      ...models.map((model) => entry(String(model.id), href(model.id, "about"), model.name, KINDS[model.kind] ?? model.kind)),
      entry("kernel", href(null, "kernel"), "Tree kernel", "Needs no model"),
    ),
  );

  const head = h("div", { class: "head" });
  const body = h("div", { class: "view" });
  let shown: Model | null = null;
  let tabs = new Map<string, HTMLElement>();
  let leaving = new AbortController();

  const showHead = (model: Model, views: View[]) => {
    tabs = new Map(views.map(({ name, title }) => [name, h("a", { href: href(model.id, name) }, title)]));
    show(
      head,
      h("h1", {}, model.name),
      model.title ? h("p", { class: "title" }, model.title) : null,
      views.length
        ? h("nav", { class: "tabs", "aria-label": "Views" }, h("ul", {}, ...[...tabs.values()].map((tab) => h("li", {}, tab))))
        : null,
    );
    shown = model;
  };

  const open = () => {
    const asked = currentRoute();
    const route = models.length ? asked : { ...asked, model: null }; // without models there is only the tree kernel
    const model = route.model === null ? NO_MODEL : models.find(({ id }) => id === route.model);
    const views = model && model !== NO_MODEL ? viewsOf(model) : [];
    const view = model === NO_MODEL ? kernel : (views.find(({ name }) => name === route.view) ?? (route.view ? undefined : views[0]));
    leaving.abort();
    leaving = new AbortController();
    if (!model || !view) {
      shown = null;
      show(head, h("h1", {}, "Not found"));
      show(body, h("p", { class: "error" }, "There is no such model or view. Choose one from the list."));
      return;
    }
    if (model !== shown) showHead(model, views);
    links.forEach((link, key) => current(link, key === (route.model === null ? "kernel" : String(model.id))));
    tabs.forEach((tab, name) => current(tab, name === view.name));
    document.title = `${view.title} · ${model.name} · eigentext`;

    const carry = (text: string | null) => {
      for (const { name, ofSentence } of views) {
        if (ofSentence && text) tabs.get(name)?.setAttribute("href", href(model.id, name, { text }));
      }
    };
    carry(route.query.get("text"));

    const wasInside = body.contains(document.activeElement);
    let opening = true; // a query that the view asks by itself adds no step to the history
    const remember = (fields: Record<string, string | number>) => {
      const to = href(route.model, view.name, fields);
      if ("text" in fields) carry(String(fields["text"]));
      if (to === location.hash) return;
      if (opening) history.replaceState(null, "", to);
      else history.pushState(null, "", to);
    };
    const heading = h("h2", { tabindex: -1 }, view.title);
    show(body, heading, h("p", { class: "lead" }, view.lead), ...view.open({ model, query: route.query, leaving: leaving.signal, remember }));
    opening = false;
    if (wasInside) heading.focus(); // because the element that had the focus is gone
  };

  show(main, head, body);
  addEventListener("hashchange", open);
  open();
}

function current(link: HTMLElement, here: boolean): void {
  if (here) link.setAttribute("aria-current", "page");
  else link.removeAttribute("aria-current");
}

// The key "/" moves the focus to the first field, as on many pages.
addEventListener("keydown", (event) => {
  const target = event.target as HTMLElement;
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.matches("input, textarea, select")) return;
  const field = main.querySelector<HTMLElement>("input, textarea");
  if (!field) return;
  event.preventDefault();
  field.focus();
});

frame();
const loading = new Task(new AbortController().signal);
show(main, loading.place);
void loading.run(
  (signal) => get<{ models: Model[] }>("models", {}, signal),
  ({ models }) => {
    start(models);
    return [];
  },
);

// Makes elements from text and attributes. No code of the page parses markup: a word of a model
// always becomes a text node or the value of an attribute.

export type Child = Node | string | number | null | undefined | false;
type Value = string | number | boolean | null | undefined | ((event: never) => void);
export type Attributes = Record<string, Value>;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name, value as EventListener);
    } else if (/^on|^style$/i.test(name) || (/href$/.test(name) && !String(value).startsWith("#"))) {
      throw new Error(`this page allows no ${name}`); // no scripts, inline styles or other sites
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(element, children);
}

export function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Make an HTML element. An attribute whose value is a function listens to the event of that name. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/** Make an SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

/** Replace the content of an element. */
export function show(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}

let lastId = 0;
export const newId = (name: string): string => `${name}-${++lastId}`;

/** Make a box that scrolls sideways, so that the page itself never does. */
export function scroller(label: string, ...children: Child[]): HTMLElement {
  return h("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": label }, ...children);
}

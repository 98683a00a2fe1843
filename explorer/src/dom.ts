// Elements from text and attributes. Nothing here, or anywhere else, parses markup: a word of a
// model is a text node or the value of an attribute, whatever it looks like.

export type Child = Node | string | number | null | undefined | false;
type Value = string | number | boolean | null | undefined | ((event: never) => void);
export type Attributes = Record<string, Value>;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name, value as EventListener);
    } else if (/^on|^style$/i.test(name) || (/href$/.test(name) && !String(value).startsWith("#"))) {
      throw new Error(`no ${name} in this page`); // scripts, inline styles, other places
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

/** An HTML element; a function among the attributes listens to the event of that name. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

/** Put children in the place of what an element holds. */
export function show(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}

let lastId = 0;
export const newId = (name: string): string => `${name}-${++lastId}`;

/** A box that scrolls sideways by itself, so that the page never does. */
export function scroller(label: string, ...children: Child[]): HTMLElement {
  return h("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": label }, ...children);
}

// Inputs with labels, and the form that sends them.

import { type Attributes, type Child, h, newId } from "../dom";

export interface Field<E extends HTMLElement> { input: E; box: HTMLElement }

export function textField(label: string, value: string, attributes: Attributes = {}): Field<HTMLInputElement> {
  const id = newId("field");
  const input = h("input", { id, type: "text", autocomplete: "off", spellcheck: "false", ...attributes });
  input.value = value;
  return { input, box: h("div", { class: "field" }, h("label", { for: id }, label), input) };
}

export function textArea(label: string, value: string, attributes: Attributes = {}): Field<HTMLTextAreaElement> {
  const id = newId("field");
  const input = h("textarea", { id, rows: 3, spellcheck: "false", ...attributes });
  input.value = value;
  return { input, box: h("div", { class: "field wide" }, h("label", { for: id }, label), input) };
}

export function select(
  label: string,
  options: [string, string][],
  value: string,
  change: (value: string) => void,
): Field<HTMLSelectElement> {
  const id = newId("field");
  const input = h(
    "select",
    { id, change: () => change(input.value) },
    ...options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)),
  );
  return { input, box: h("div", { class: "field" }, h("label", { for: id }, label), input) };
}

export function form(send: () => void, button: string, ...children: Child[]): HTMLFormElement {
  return h(
    "form",
    {
      submit: (event: SubmitEvent) => {
        event.preventDefault();
        send();
      },
    },
    ...children,
    h("button", { type: "submit", class: "main" }, button),
  );
}

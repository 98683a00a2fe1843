// Lists of labeled bars. Each row is readable without its bar.

import { type Child, h } from "../dom";

export interface Row {
  label: Child;
  value: number;
  text: string;
  aside?: string | null | undefined;
  negative?: boolean;
}

/** Make a bar without text. */
export function bar(share: number, negative = false): HTMLElement {
  const made = h("span", { class: negative ? "bar negative" : "bar", "aria-hidden": "true" });
  // Set by a script, because the content security policy forbids style attributes.
  made.style.setProperty("--share", String(Math.max(0, Math.min(1, share))));
  return made;
}

export function bars(rows: Row[], options: { label: string; most?: number }): HTMLElement {
  const most = options.most ?? Math.max(...rows.map((row) => row.value), 1e-12);
  return h(
    "ol",
    { class: "bars", "aria-label": options.label },
    ...rows.map((row) =>
      h(
        "li",
        {},
        h("span", { class: "bar-label" }, row.label),
        bar(row.value / most, row.negative),
        h("span", { class: "bar-value" }, row.text),
        row.aside ? h("span", { class: "bar-aside" }, row.aside) : null,
      ),
    ),
  );
}

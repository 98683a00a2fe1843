// A text field that proposes words while the reader types: a combobox of ARIA, for keyboard and mouse.

import { type Attributes, h, newId, show } from "../dom";
import { type Field, textField } from "./fields";

type Source = (prefix: string, signal: AbortSignal) => Promise<string[]>;

export function combobox(
  label: string,
  value: string,
  source: Source,
  leaving: AbortSignal,
  pick: (word: string) => void = () => {},
  attributes: Attributes = {},
): Field<HTMLInputElement> {
  const listId = newId("list");
  const { input, box } = textField(label, value, {
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": listId,
    "aria-autocomplete": "list",
    autocapitalize: "none",
    ...attributes,
  });
  const list = h("ul", { id: listId, role: "listbox", class: "options", "aria-label": `Proposals for ${label}` });
  list.hidden = true;
  box.classList.add("combobox");
  box.append(list);

  let options: HTMLElement[] = [];
  let active = -1;
  let asking: AbortController | null = null;
  let timer = 0;

  const mark = (index: number) => {
    options[active]?.setAttribute("aria-selected", "false");
    active = index;
    const option = options[active];
    if (option) {
      option.setAttribute("aria-selected", "true");
      option.scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", option.id);
    } else {
      input.removeAttribute("aria-activedescendant");
    }
  };
  const close = () => {
    clearTimeout(timer);
    asking?.abort();
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    mark(-1);
  };
  const take = (word: string) => {
    input.value = word;
    close();
    pick(word);
  };
  const open = (words: string[]) => {
    options = words.map((word) =>
      h(
        "li",
        {
          id: newId("option"),
          role: "option",
          "aria-selected": "false",
          // On mousedown, because at the click the field has lost the focus and the list is gone.
          mousedown: (event: MouseEvent) => {
            event.preventDefault();
            take(word);
          },
        },
        word,
      ),
    );
    active = -1;
    show(list, ...options);
    list.hidden = options.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    input.removeAttribute("aria-activedescendant");
  };
  const propose = () => {
    clearTimeout(timer);
    asking?.abort();
    const prefix = input.value.trim();
    if (!prefix) return close();
    const mine = (asking = new AbortController());
    timer = setTimeout(() => {
      source(prefix, mine.signal).then(
        (words) => {
          if (!mine.signal.aborted && document.activeElement === input) open(words);
        },
        () => {}, // the field works without proposals
      );
    }, 120);
  };

  input.addEventListener("input", propose);
  input.addEventListener("blur", close);
  leaving.addEventListener("abort", close);
  input.addEventListener("keydown", (event) => {
    const n = options.length;
    if (event.key === "Enter") {
      const option = list.hidden ? undefined : options[active];
      if (option) {
        event.preventDefault();
        take(option.textContent ?? "");
      } else {
        close(); // the form sends the text of the field
      }
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      close();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && list.hidden) {
      propose();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      mark(active < 0 ? (step > 0 ? 0 : n - 1) : (active + step + n) % n);
    }
  });
  return { input, box };
}

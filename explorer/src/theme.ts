// The light or the dark theme: that of the system, until the reader chooses.

import { h } from "./dom";

const KEY = "eigentext-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function chosen(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // the browser may forbid storage
  }
}

function isDark(): boolean {
  return (document.documentElement.dataset["theme"] ?? (system.matches ? "dark" : "light")) === "dark";
}

export function themeButton(): HTMLElement {
  const button = h("button", { type: "button", class: "quiet", id: "theme", click: () => turn(!isDark()) });
  const name = () => {
    button.textContent = isDark() ? "Light theme" : "Dark theme";
  };
  const turn = (dark: boolean) => {
    const theme = dark ? "dark" : "light";
    document.documentElement.dataset["theme"] = theme;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // without storage, the choice ends with the page
    }
    name();
  };
  const before = chosen();
  if (before === "dark" || before === "light") document.documentElement.dataset["theme"] = before;
  system.addEventListener("change", name);
  name();
  return button;
}

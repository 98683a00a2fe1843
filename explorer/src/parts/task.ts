// A place on the page that shows the answer of one request at a time.

import { ApiError } from "../api";
import { h, show } from "../dom";

/** Announce a text to screen readers. */
export function announce(text: string): void {
  const status = document.getElementById("status");
  if (status) status.textContent = text;
}

export class Task {
  readonly place = h("div", { class: "result" });
  private running: AbortController | null = null;

  constructor(private readonly leaving: AbortSignal) {
    leaving.addEventListener("abort", () => this.stop());
  }

  stop(): void {
    this.running?.abort();
    this.running = null;
    this.place.removeAttribute("aria-busy");
  }

  /** Ask, then show the answer. A newer query aborts this one. */
  async run<T>(
    ask: (signal: AbortSignal) => Promise<T>,
    render: (answer: T) => (Node | null)[],
    onError: (error: ApiError) => (Node | null)[] = () => [],
  ): Promise<void> {
    this.stop();
    if (this.leaving.aborted) return;
    const running = (this.running = new AbortController());
    this.place.setAttribute("aria-busy", "true");
    // Say that the server is working, but only if the answer is slow.
    const patience = setTimeout(() => show(this.place, h("p", { class: "loading" }, "Working…")), 200);
    let shown: (Node | null)[];
    try {
      const answer = await ask(running.signal);
      if (running !== this.running) return;
      shown = render(answer);
    } catch (error) {
      if (running !== this.running) return;
      const known = error instanceof ApiError ? error : new ApiError(`The page failed: ${String(error)}`);
      announce(known.message);
      shown = [h("p", { class: "error" }, known.message), ...onError(known)];
    } finally {
      clearTimeout(patience);
      if (running === this.running) this.stop();
    }
    show(this.place, ...shown);
  }

  clear(): void {
    this.stop();
    show(this.place);
  }
}

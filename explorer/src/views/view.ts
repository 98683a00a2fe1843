// What a view is, and what it is given.

import type { Model } from "../api";

export interface Context {
  model: Model;
  query: URLSearchParams;
  /** Aborted when the reader leaves the view. */
  leaving: AbortSignal;
  /** Put what was asked into the address, so that it can be kept and gone back to. */
  remember: (fields: Record<string, string | number>) => void;
}

export interface View {
  name: string; // in the address and in the model's list of views
  title: string;
  lead: string; // one sentence on what there is to see
  /** Whether it shows a sentence, which then goes along from one such view to the next. */
  ofSentence?: boolean;
  open: (context: Context) => (Node | null)[];
}

// The type of a view, and what a view gets.

import type { Model } from "../api";

export interface Context {
  model: Model;
  query: URLSearchParams;
  /** Aborted when the reader leaves the view. */
  leaving: AbortSignal;
  /** Write the query into the address, so that it can be bookmarked and the Back button works. */
  remember: (fields: Record<string, string | number>) => void;
}

export interface View {
  name: string; // in the address, and in the list of views of a model
  title: string;
  lead: string; // one sentence about what the view shows
  /** Whether the view shows a sentence. Then other views of sentences open with the same one. */
  ofSentence?: boolean;
  open: (context: Context) => (Node | null)[];
}

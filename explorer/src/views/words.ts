// Proposals of words from the vocabulary of a model, for all views of words.

import { type Counted, get, type Model } from "../api";

export function vocabulary(model: Model) {
  return async (prefix: string, signal: AbortSignal): Promise<string[]> => {
    const { words } = await get<{ words: Counted[] }>(`${model.id}/words`, { prefix, limit: 12 }, signal);
    return words.map(({ word }) => word);
  };
}

// What the views of words share: proposals from the model's vocabulary.

import { type Counted, get, type Model } from "../api";

export function vocabulary(model: Model) {
  return async (prefix: string, signal: AbortSignal): Promise<string[]> => {
    const { words } = await get<{ words: Counted[] }>(`${model.id}/words`, { prefix, limit: 12 }, signal);
    return words.map(({ word }) => word);
  };
}

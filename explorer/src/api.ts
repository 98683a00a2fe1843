// The types of the answers of the server, and the functions that ask it.

export interface Diagnostic { text: string; level: "note" | "warning" | "problem" }
export interface Model {
  id: number;
  name: string;
  kind: string;
  title: string;
  parameters: Record<string, unknown>;
  facts: [string, string][];
  diagnostics: Diagnostic[];
  views: string[];
}
export interface Counted { word: string; count?: number | null }
export interface Neighbors { word: string; count?: number | null; neighbors: (Counted & { cosine: number })[] }
export interface Analogy { answers: { word: string; score: number }[] }
export interface Point extends Counted { x: number; y: number; cluster: number }
export interface WordMap { points: Point[]; n_clusters: number }
export interface Spectrum { kept: number[]; dropped: number[] }
export interface Chance { word: string; probability: number }
export interface Step { word: string | null; known?: boolean; next: Chance[]; state: number[] | null }
/** What the numbers of a hidden state are. Spectral models have coordinates, which may be negative. */
export type StatesAre = "probabilities" | "coordinates";
export interface Steps { steps: Step[]; states?: StatesAre | null }
export interface Cluster { id: number; bits: string; size: number; words: Counted[] }
export interface Clusters { clusters: Cluster[]; n_clusters: number }
export interface TreeNode {
  label: string;
  children?: TreeNode[];
  span?: [number, number];
  probability?: number | null;
}
export interface Parse {
  tokens: string[];
  trees: { brackets: string; log_probability: number | null; tree: TreeNode }[];
  fallback: string | null;
  decoding?: string;
  gives_probabilities: boolean;
}
export interface Span { label: string; start: number; end: number; probability: number }
export interface Marginals { tokens: string[]; spans: Span[] }
export interface States { label: string; states: number[]; states_are?: StatesAre }
export interface Topic { id: number; share: number; words: Chance[] }
export interface Topics { topics: Topic[]; n_documents: number | null }
export interface Documents { documents: { text: string; share: number }[]; why?: string | null }
export interface Proportions { proportions: number[]; known_words: number; unknown_words: number }
export interface Fragment { fragment: string; size: number; weight: number; places: [number[], number[]] }
export interface Kernel { value: number; normalized: number; trees: [TreeNode, TreeNode]; fragments: Fragment[] }
export interface Tags { tokens: { word: string; tag: string; confidence: number | null }[] }

/** An error: one sentence and, if the server knows some, words with a similar spelling. */
export class ApiError extends Error {
  constructor(message: string, readonly suggestions: string[] = []) {
    super(message);
  }
}

type Fields = Record<string, string | number>;

async function ask<T>(path: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, { ...init, credentials: "omit", cache: "no-store" });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError("The server does not answer. Is “eigentext explore” still running?");
  }
  const body: unknown = await response.json().catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
    return null;
  });
  if (response.ok && body !== null) return body as T;
  const { error, suggestions } = (body ?? {}) as { error?: string; suggestions?: string[] };
  throw new ApiError(error ?? `The server answered with status ${response.status}.`, suggestions);
}

export function get<T>(path: string, fields: Fields, signal: AbortSignal): Promise<T> {
  const query = new URLSearchParams(Object.entries(fields).map(([key, value]) => [key, String(value)]));
  return ask<T>(query.size ? `api/${path}?${query}` : `api/${path}`, { signal });
}

export function post<T>(path: string, fields: Fields, signal: AbortSignal): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  return ask<T>(`api/${path}`, { method: "POST", headers, body: JSON.stringify(fields), signal });
}

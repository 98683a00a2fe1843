// The address of a view: #/model/view?field=value. So views are links, and the Back button works.

export interface Route { model: number | null; view: string; query: URLSearchParams }

export function currentRoute(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [model = "", view = ""] = path.split("/");
  if (model === "kernel") return { model: null, view: "kernel", query: new URLSearchParams(query) };
  return { model: /^\d+$/.test(model) ? Number(model) : 0, view, query: new URLSearchParams(query) };
}

export function href(model: number | null, view: string, fields: Record<string, string | number> = {}): string {
  const query = new URLSearchParams(Object.entries(fields).map(([key, value]) => [key, String(value)]));
  return `#/${model === null ? view : `${model}/${view}`}${query.size ? `?${query}` : ""}`;
}

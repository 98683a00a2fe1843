// Writes numbers and quotes for readers.

export const whole = (value: number): string => value.toLocaleString("en");
export const times = (count: number): string => (count === 1 ? "once" : `${whole(count)} times`);

/** Write three significant digits, without zeros at the end. */
export function short(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}

export function percent(share: number): string {
  if (share === 0) return "0 %";
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}

export const quoted = (text: string): string => `“${text}”`;
export const plural = (count: number, one: string, many = one + "s"): string =>
  `${whole(count)} ${count === 1 ? one : many}`;

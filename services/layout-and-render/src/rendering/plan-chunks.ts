/** A chunk costs about ten milliseconds beside its pages; beyond this size it becomes slower per page. */
export const mostPages = 100;
const fewestPages = 10;

/**
 * The numbers of pages of the chunks; further ones have the maximum. The first ones are smaller, so that all tabs begin
 * soon and staggered, and the last ones, so that all end together.
 */
export function planChunks(count: number, tabs: number): number[] {
  const alike = (size: number) => Array<number>(tabs).fill(Math.max(fewestPages, size));
  if (count <= tabs * mostPages) return alike(Math.ceil(count / tabs));
  const first = Array.from({ length: tabs }, (_, tab) => Math.round((mostPages * (tab + 1)) / (tabs + 1)));
  if (!Number.isFinite(count)) return first;
  const rest = count - first.reduce((sum, size) => sum + size, 0);
  const last = Math.ceil((((rest - 1) % mostPages) + 1) / tabs);
  const whole = Math.ceil(rest / mostPages) - 1;
  return [...first, ...Array<number>(whole).fill(mostPages), ...alike(last)];
}

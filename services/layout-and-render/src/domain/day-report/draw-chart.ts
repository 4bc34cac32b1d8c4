import { namedHours } from "@tessera/values";
import { escapeHtml } from "../drawing/escape-html.ts";

/** A quarter of an hour in a chart. */
export interface ChartQuarter {
  readonly local: string;
  readonly entries: number;
  readonly exits: number;
  readonly inside: number;
}

export interface ChartPlace {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly writeCount: (count: number) => string;
}

/** Writes a length in millimetres. */
export const mm = (length: number) => String(Math.round(length * 100) / 100);

const [blue, grey, line] = ["#1f5fa8", "#9aa4b0", "#c9d0d8"];

/** Draws entries upwards and exits downwards. */
export function drawBars(quarters: readonly ChartQuarter[], place: ChartPlace): string {
  const { left, top, width, height, writeCount } = place;
  const [up, down] = [highest(quarters, "entries"), highest(quarters, "exits")];
  const scale = height / Math.max(1, up + down);
  const zero = top + up * scale;
  const step = width / Math.max(1, quarters.length);
  const bars = quarters.map(({ entries, exits }, index) => {
    const at = left + index * step + step * 0.1;
    return [
      bar(blue, { x: at, y: zero - entries * scale, width: step * 0.8, height: entries * scale }),
      bar(grey, { x: at, y: zero, width: step * 0.8, height: exits * scale }),
    ].join("");
  });
  return [
    ...bars,
    rule(left, left + width, zero),
    label(left - 1.5, top + 2, writeCount(up)),
    ...(down > 0 ? [label(left - 1.5, top + height, writeCount(down))] : []),
    hours(quarters, place),
  ].join("");
}

/** Draws how many are inside as an area with steps. */
export function drawInside(quarters: readonly ChartQuarter[], place: ChartPlace): string {
  const { left, top, width, height, writeCount } = place;
  const most = highest(quarters, "inside");
  const step = width / Math.max(1, quarters.length);
  const y = (inside: number) => mm(top + height - (Math.max(0, inside) * height) / Math.max(1, most));
  const steps = quarters.map(({ inside }, index) => `V${y(inside)}H${mm(left + (index + 1) * step)}`);
  const bottom = mm(top + height);
  return [
    `<path d="M${mm(left)} ${bottom}${steps.join("")}V${bottom}Z" fill="#d5e3f3" stroke="${blue}" stroke-width="0.25"/>`,
    rule(left, left + width, top + height),
    label(left - 1.5, top + 2, writeCount(most)),
    hours(quarters, place),
  ].join("");
}

/** Names the colours of the bars, up to the right edge. */
export function drawLegend(
  names: readonly string[],
  { right, y }: { readonly right: number; readonly y: number },
): string {
  return names
    .map((name, index) => {
      const x = right - (names.length - index) * 26;
      return `<rect x="${mm(x)}" y="${mm(y - 2.2)}" width="2.6" height="2.6" fill="${index === 0 ? blue : grey}"/><text x="${mm(x + 4)}" y="${mm(y)}" font-size="2.6" fill="#555">${escapeHtml(name)}</text>`;
    })
    .join("");
}

const highest = (quarters: readonly ChartQuarter[], what: "entries" | "exits" | "inside") =>
  quarters.reduce((most, quarter) => Math.max(most, quarter[what]), 0);

function bar(color: string, { x, y, width, height }: { x: number; y: number; width: number; height: number }): string {
  if (height <= 0) return "";
  return `<rect x="${mm(x)}" y="${mm(y)}" width="${mm(width)}" height="${mm(height)}" fill="${color}"/>`;
}

function rule(from: number, to: number, y: number): string {
  return `<path d="M${mm(from)} ${mm(y)}H${mm(to)}" stroke="${line}" stroke-width="0.2"/>`;
}

function label(x: number, y: number, text: string): string {
  return `<text x="${mm(x)}" y="${mm(y)}" font-size="2.4" text-anchor="end" fill="#555">${escapeHtml(text)}</text>`;
}

const mostHours = 13;

/** Names full hours, as many as have room. */
function hours(quarters: readonly ChartQuarter[], { left, top, width, height }: ChartPlace): string {
  const step = width / Math.max(1, quarters.length);
  return namedHours(quarters, { most: mostHours })
    .map(({ local, index }) => {
      const [x, y] = [left + index * step, top + height];
      return `<path d="M${mm(x)} ${mm(y)}v1.2" stroke="${line}" stroke-width="0.2"/><text x="${mm(x)}" y="${mm(y + 4)}" font-size="2.4" text-anchor="middle" fill="#555">${escapeHtml(local)}</text>`;
    })
    .join("");
}

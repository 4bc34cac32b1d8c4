import { namedHours } from "@tessera/values";
import { say, sayNumber } from "../board-speech.ts";
import type { Quarter } from "./report.ts";

/** The height of a drawing; its width is a unit for each quarter. */
const height = 100;

/** A phone has room for so many. */
const mostHours = 7;

/** Draws entries upwards and exits downwards, by the quarter of an hour. */
export function EntriesChart({ quarters }: { readonly quarters: readonly Quarter[] }) {
  const [up, down] = [mostOf(quarters, "entries"), mostOf(quarters, "exits")];
  const scale = height / Math.max(1, up + down);
  const zero = up * scale;
  return (
    <Chart title={say("per_quarter")} quarters={quarters} most={up} least={down}>
      {quarters.map(({ start, entries, exits }, index) => (
        <g key={start}>
          <rect class="bar entries" x={index + 0.1} width={0.8} y={zero - entries * scale} height={entries * scale} />
          <rect class="bar exits" x={index + 0.1} width={0.8} y={zero} height={exits * scale} />
        </g>
      ))}
      <path class="axis" d={`M0 ${zero}H${quarters.length}`} />
    </Chart>
  );
}

/** Draws how many were inside, as an area with steps. */
export function InsideChart({ quarters }: { readonly quarters: readonly Quarter[] }) {
  const most = mostOf(quarters, "inside");
  const y = (inside: number) => height - (Math.max(0, inside) * height) / Math.max(1, most);
  const steps = quarters.map(({ inside }, index) => `V${y(inside)}H${index + 1}`).join("");
  return (
    <Chart title={say("inside_at_end")} quarters={quarters} most={most}>
      <path class="area" d={`M0 ${height}${steps}V${height}Z`} />
      <path class="axis" d={`M0 ${height}H${quarters.length}`} />
    </Chart>
  );
}

function Chart({
  title,
  quarters,
  most,
  least = 0,
  children,
}: {
  readonly title: string;
  readonly quarters: readonly Quarter[];
  readonly most: number;
  readonly least?: number;
  readonly children: preact.ComponentChildren;
}) {
  return (
    <figure class="day-chart">
      <figcaption>
        <h2>{title}</h2>
      </figcaption>
      <div class="plot">
        <p class="bounds quiet" aria-hidden="true">
          <span>{sayNumber(most)}</span>
          <span>{least === 0 ? "0" : sayNumber(least)}</span>
        </p>
        <svg viewBox={`0 0 ${Math.max(1, quarters.length)} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          {children}
        </svg>
      </div>
      <p class="hours quiet" aria-hidden="true">
        {namedHours(quarters, { most: mostHours }).map(({ local, index }) => (
          <span key={index} style={{ insetInlineStart: `${(index / quarters.length) * 100}%` }}>
            {local}
          </span>
        ))}
      </p>
    </figure>
  );
}

function mostOf(quarters: readonly Quarter[], what: "entries" | "exits" | "inside"): number {
  return quarters.reduce((most, quarter) => Math.max(most, quarter[what]), 0);
}

import { useEffect, useRef } from "preact/hooks";
import UPlot from "uplot";
import { language, say, sayNumber } from "./board-speech.ts";
import type { MinuteColumns } from "./minutes.ts";

const height = 220;

/** Draws scans per minute: entries, exits and refusals. */
export function RateChart({ columns, title }: { readonly columns: MinuteColumns; readonly title: string }) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot>(null);
  const { at, entries, exits, refused } = columns;
  const most = Math.max(0, ...entries, ...exits, ...refused);

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const make = () => {
      chart.current?.destroy();
      chart.current = new UPlot(optionsFor(element), [[], [], [], []], element);
    };
    make();
    const resized = new ResizeObserver(() => chart.current?.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    // Its colors are those of the page at the time when it was made.
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", make);
    return () => {
      resized.disconnect();
      scheme.removeEventListener("change", make);
      chart.current?.destroy();
    };
  }, [language.value]);

  useEffect(() => chart.current?.setData([at, entries, exits, refused]), [columns, language.value]);

  return (
    <figure class="chart">
      <div ref={place} role="img" aria-label={`${title}. ${summarize(columns)}`} />
      <figcaption class="row legend">
        <span class="key entries">{say("entries")}</span>
        <span class="key exits">{say("exits")}</span>
        <span class="key refused">{say("refused")}</span>
        {most === 0 ? <span class="quiet">{say("no_scans")}</span> : null}
      </figcaption>
    </figure>
  );
}

function summarize({ entries, exits, refused }: MinuteColumns): string {
  const sum = (values: readonly number[]) => sayNumber(values.reduce((all, value) => all + value, 0));
  return `${say("entries")}: ${sum(entries)}, ${say("exits")}: ${sum(exits)}, ${say("refused")}: ${sum(refused)}`;
}

function optionsFor(element: HTMLElement): UPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const font = `14px ${style.fontFamily}`;
  const axis = { stroke: color("--ink"), font, grid: { stroke: color("--faint"), width: 1 }, ticks: { show: false } };
  const time = new Intl.DateTimeFormat(language.value, { hour: "2-digit", minute: "2-digit" });
  return {
    width: element.clientWidth,
    height,
    padding: [null, 28, null, null],
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_chart, _least, most) => [0, Math.max(5, most * 1.1)] } },
    axes: [
      { ...axis, space: 90, values: (_chart, splits) => splits.map((second) => time.format(second * 1000)) },
      {
        ...axis,
        size: 56,
        values: (_chart, splits) => splits.map((value) => (Number.isInteger(value) ? sayNumber(value) : "")),
      },
    ],
    series: [
      {},
      { stroke: color("--entries"), width: 3, points: { show: false } },
      { stroke: color("--exits"), width: 2, dash: [8, 4], points: { show: false } },
      { stroke: color("--refusals"), width: 2, dash: [2, 3], points: { show: false } },
    ],
  };
}

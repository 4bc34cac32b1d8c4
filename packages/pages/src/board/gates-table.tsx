import { useState } from "preact/hooks";
import { say, sayNumber, sayReason, sayShare, saySpan } from "./board-speech.ts";
import { type Column, type GateRow, sortRows } from "./gate-rows.ts";
import { GateSheet } from "./gate-sheet.tsx";
import type { LastHour } from "./live.ts";
import type { Word } from "./words/en.ts";

const columns: readonly (readonly [Column, Word])[] = [
  ["name", "gate"],
  ["entries", "entries"],
  ["exits", "exits"],
  ["refused", "refused"],
  ["silentMs", "last_scan"],
  ["troubles", "devices"],
];

/** Gates as lines that sort; each opens its last hour. */
export function GatesTable({
  rows,
  hour,
  now,
}: {
  readonly rows: readonly GateRow[];
  readonly hour: LastHour | undefined;
  readonly now: number;
}) {
  const [{ by, descends }, setOrder] = useState<{ by: Column; descends: boolean }>({ by: "name", descends: false });
  const [opened, setOpened] = useState<number | null | undefined>(undefined);
  const openedRow = opened === undefined ? undefined : rows.find(({ gate }) => gate === opened);
  return (
    <section class="sheet stack">
      <h2>{say("gates")}</h2>
      {rows.length === 0 ? <p>{say("no_gates")}</p> : null}
      <div class="wide-table" hidden={rows.length === 0}>
        <table>
          <thead>
            <tr>
              {columns.map(([column, word]) => (
                <th
                  key={column}
                  scope="col"
                  class={column === "exits" ? "less" : undefined}
                  aria-sort={by === column ? (descends ? "descending" : "ascending") : undefined}
                >
                  <button
                    type="button"
                    title={say("sort_by", { column: say(word) })}
                    onClick={() => setOrder({ by: column, descends: by === column ? !descends : column !== "name" })}
                  >
                    {say(word)}
                    {by === column ? (
                      <span class={`sorted${descends ? " descending" : ""}`} aria-hidden="true" />
                    ) : null}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sortRows(rows, { by, descends }).map((row) => (
              <Row key={String(row.gate)} row={row} onOpen={() => setOpened(row.gate)} />
            ))}
          </tbody>
        </table>
      </div>
      {openedRow === undefined ? null : (
        <GateSheet row={openedRow} hour={hour} now={now} onClose={() => setOpened(undefined)} />
      )}
    </section>
  );
}

function Row({ row, onOpen }: { readonly row: GateRow; readonly onOpen: () => void }) {
  const { name, state, entries, exits, refused, refusedShare, reason, silentMs, devices, troubles } = row;
  return (
    <tr>
      <th scope="row">
        <button type="button" class="open" onClick={onOpen}>
          {name}
        </button>
        <span class={`state ${state}`}>{say(`state_${state}`)}</span>
      </th>
      <td>{sayNumber(entries)}</td>
      <td class="less">{sayNumber(exits)}</td>
      <td>
        {sayNumber(refused)}
        {refused > 0 && reason !== undefined ? (
          <small>
            {sayShare(refusedShare)} · {sayReason(reason)}
          </small>
        ) : null}
      </td>
      <td>{silentMs === undefined ? say("never") : say("ago", { span: saySpan(silentMs) })}</td>
      <td>
        {sayNumber(devices.length)}
        {troubles > 0 ? <span class="warn">{sayNumber(troubles)} !</span> : null}
      </td>
    </tr>
  );
}

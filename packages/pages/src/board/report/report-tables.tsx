import { say, sayNumber, sayReason } from "../board-speech.ts";
import type { Counts, Quarter, Report } from "./report.ts";

/** The counts of a day by list, product, gate, device, reason and quarter of an hour. */
export function ReportTables({ report, quarters }: { readonly report: Report; readonly quarters: readonly Quarter[] }) {
  const { lists, products, gates, devices, reasons } = report;
  return (
    <>
      <CountTable
        title={say("lists")}
        rows={lists.map((row) => ({ ...row, name: row.list_name ?? String(row.list) }))}
      />
      <CountTable title={say("products")} rows={products.map((row) => ({ ...row, name: sayProduct(row) }))} />
      <CountTable
        title={say("gates")}
        rows={gates.map((row) => ({
          ...row,
          name: row.gate_name ?? (row.gate === null ? say("without_gate") : say("gate_without_name", { id: row.gate })),
        }))}
      />
      <CountTable
        title={say("devices")}
        rows={devices.map((row) => ({
          ...row,
          name:
            row.device_name ??
            (row.device === null ? say("without_device") : say("device_without_name", { id: row.device })),
        }))}
      />
      {reasons.length === 0 ? null : (
        <section class="sheet stack">
          <h2>{say("refused_for")}</h2>
          <table>
            <tbody>
              {reasons.map(({ reason, count }) => (
                <tr key={reason}>
                  <th scope="row">{sayReason(reason)}</th>
                  <td class="number">{sayNumber(count)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <CountTable
        title={say("by_quarter")}
        rows={quarters.map((row) => ({ ...row, name: row.local, more: row.inside }))}
        more={say("inside_at_end")}
      />
    </>
  );
}

interface Row extends Counts {
  readonly name: string;
  readonly more?: number;
}

function CountTable({
  title,
  rows,
  more,
}: {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly more?: string;
}) {
  if (rows.length === 0) return null;
  return (
    <section class="sheet stack">
      <h2>{title}</h2>
      <table>
        <thead>
          <tr>
            <td />
            {[say("entries"), say("exits"), say("refused"), ...(more === undefined ? [] : [more])].map((column) => (
              <th key={column} scope="col" class="number">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              <th scope="row">{row.name}</th>
              <td class="number">{sayNumber(row.entries)}</td>
              <td class="number">{sayNumber(row.exits)}</td>
              <td class="number">{sayNumber(row.refusals)}</td>
              {row.more === undefined ? null : <td class="number">{sayNumber(row.more)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function sayProduct({ item, item_name, variation_name }: Report["products"][number]): string {
  if (item === null) return say("no_ticket");
  const name = item_name ?? String(item);
  return variation_name === null ? name : `${name} – ${variation_name}`;
}

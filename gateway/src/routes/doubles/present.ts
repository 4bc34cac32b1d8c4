import type { DoubledScan, Double as DoubleOnWire } from "@tessera/protos/gen/ticketing/checkin/v1/doubles";
import { type Cell, formatInstant } from "@tessera/values";
import { presentCheckin } from "../listed-positions/present.ts";

export function presentDouble(double: DoubleOnWire | undefined) {
  if (double?.scan?.checkin === undefined) throw new Error("checkin answered without a double");
  const { scan, earlier, note } = double;
  const { id, list, at } = double.scan.checkin;
  return {
    id,
    list,
    position: double.position,
    order: double.orderCode,
    positionid: double.positionid,
    reasons: double.reasons,
    created: formatInstant(double.createdAt),
    seconds_apart: earlier?.checkin === undefined ? null : Math.floor((at - earlier.checkin.at) / 1_000_000),
    earlier: earlier === undefined ? null : presentScan(earlier),
    scan: presentScan(scan),
    explained: note?.text ?? null,
    explained_by: note?.by ?? null,
    explained_at: note === undefined ? null : formatInstant(note.at),
  };
}

function presentScan({ checkin, createdAt }: DoubledScan) {
  if (checkin === undefined) throw new Error("checkin answered without a scan");
  const { list: _ofDouble, type: _entry, ...shown } = presentCheckin(checkin);
  return { ...shown, created: formatInstant(createdAt) };
}

/** The columns of the table, and what stands in them. */
const columns: Readonly<Record<string, (double: ReturnType<typeof presentDouble>) => Cell>> = {
  id: ({ id }) => id,
  list: ({ list }) => list,
  order: ({ order }) => order,
  positionid: ({ positionid }) => positionid,
  position: ({ position }) => position,
  reasons: ({ reasons }) => reasons.join(" "),
  earlier_datetime: ({ earlier }) => earlier?.datetime ?? null,
  earlier_created: ({ earlier }) => earlier?.created ?? null,
  earlier_device: ({ earlier }) => earlier?.device ?? null,
  earlier_gate: ({ earlier }) => earlier?.gate ?? null,
  datetime: ({ scan }) => scan.datetime,
  created: ({ scan }) => scan.created,
  device: ({ scan }) => scan.device,
  gate: ({ scan }) => scan.gate,
  seconds_apart: ({ seconds_apart: seconds }) => seconds,
  explained: ({ explained }) => explained,
  explained_by: ({ explained_by: by }) => by,
  explained_at: ({ explained_at: at }) => at,
};

export const columnNames = Object.keys(columns);

export function presentRow(double: DoubleOnWire): readonly Cell[] {
  const shown = presentDouble(double);
  return Object.values(columns).map((read) => read(shown));
}

import { type Cell, formatInstant, writeCsvLine } from "@tessera/values";
import type { ItemNames } from "../domain/item-names.ts";
import type { ExportedRow } from "../store/exported-scans.ts";

export interface ScanNames {
  readonly items: ItemNames;
  readonly lists: ReadonlyMap<number, string>;
}

export interface ScanLines {
  /** The first bytes of the file, before all lines. */
  readonly head: string;
  write(row: ExportedRow, names: ScanNames): string;
}

export const jsonLines: ScanLines = { head: "", write: (row, names) => `${JSON.stringify(show(row, names))}\n` };

type ShownScan = ReturnType<typeof show>;

const columns: readonly (keyof ShownScan)[] = [
  ...(["id", "datetime", "created", "type", "successful", "error_reason", "error_explanation"] as const),
  ...(["list", "list_name", "position", "order", "positionid"] as const),
  ...(["item", "item_name", "variation", "variation_name", "subevent", "attendee_name"] as const),
  ...(["gate", "device", "device_id", "auto_checked_in"] as const),
];

/** The columns are the fields of JSON lines, in their order. */
export const tableLines: ScanLines = {
  head: writeCsvLine(columns),
  write: (row, names) => {
    const shown = show(row, names);
    return writeCsvLine(columns.map((column): Cell => shown[column]));
  },
};

function show(row: ExportedRow, { items, lists }: ScanNames) {
  const [id, at, createdAt, type, successful, reason, explanation, list, position, ...ofTicketAndPlace] = row;
  const [order, positionid, item, variation, subevent, attendeeName, ...ofPlace] = ofTicketAndPlace;
  const [gate, device, deviceId, autoCheckedIn] = ofPlace;
  return {
    id,
    datetime: formatInstant(at),
    created: formatInstant(createdAt),
    type,
    successful,
    error_reason: reason,
    error_explanation: explanation,
    list,
    list_name: lists.get(list) ?? null,
    position,
    order,
    positionid,
    item,
    item_name: item === null ? null : items.ofItem(item),
    variation,
    variation_name: item === null || variation === null ? null : items.ofVariation(item, variation),
    subevent,
    attendee_name: attendeeName,
    gate,
    device,
    device_id: deviceId,
    auto_checked_in: autoCheckedIn,
  };
}

import type {
  DoubledScan,
  DoubleFilter as DoubleFilterOnWire,
  Double as DoubleOnWire,
  DoublesAt,
} from "@tessera/protos/gen/ticketing/checkin/v1/doubles";
import { completeAt, type DoubleCounts, type DoubleFilter, type NotedDouble } from "../domain/double-filter.ts";
import type { StoredScan } from "../domain/find-doubles.ts";
import { toCheckin } from "./position-messages.ts";

export function toDoubleFilter(filter: DoubleFilterOnWire | undefined): DoubleFilter {
  const { createdSince, createdBefore, atSince, atBefore, ...same } = filter ?? {};
  return {
    ...same,
    created: { since: createdSince, before: createdBefore },
    scanned: { since: atSince, before: atBefore },
  };
}

export function toDouble(double: NotedDouble): DoubleOnWire {
  const { scan, earlier, list, position, orderCode, positionid, reasons, note } = double;
  return {
    scan: toDoubledScan(list, scan),
    earlier: earlier === null ? undefined : toDoubledScan(list, earlier),
    position,
    orderCode,
    positionid,
    reasons: [...reasons],
    createdAt: completeAt(double),
    note: note === null ? undefined : { ...note, text: note.text ?? undefined },
  };
}

function toDoubledScan(list: number, scan: StoredScan): DoubledScan {
  return { checkin: toCheckin(list, scan), createdAt: scan.createdAt };
}

export function toCount({ id, count, explained }: DoubleCounts["devices"][number]): DoublesAt {
  return { id: id ?? undefined, count, explained };
}

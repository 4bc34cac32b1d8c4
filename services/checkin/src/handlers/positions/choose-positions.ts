import type { Fault } from "@tessera/kit/fault";
import type { Queryable } from "@tessera/kit/pg/database";
import type { Ids, PositionFilters } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { planSearch } from "../../domain/search-text.ts";
import type { EventKey } from "../../store/keys.ts";
import { everyPosition, type PositionChoice } from "../../store/position-filter.ts";
import { findVoucherOfCode } from "../../store/vouchers.ts";
import { toOrderStatusOfLetter } from "../../wire/position-messages.ts";
import { findUnknown, nameOne } from "../unknown-ids.ts";

export interface Texts {
  readonly search?: string | undefined;
  readonly order?: string | undefined;
}

/** The parameters of a request, looked up in the event. */
export interface Resolved {
  readonly usableAt: number | undefined;
  readonly voucherOfCode: number | undefined;
}

/** Reads which tickets are asked for. */
export function choosePositions(
  { search, order, filters }: Texts & { readonly filters?: PositionFilters | undefined },
  { usableAt, voucherOfCode }: Resolved,
): PositionChoice {
  const texts = [search, order, filters?.attendeeName, filters?.secret, filters?.pseudonymizationId];
  // Postgres accepts no NUL in a text, so no stored text has one.
  const isPossible = hasVoucherOf(filters, voucherOfCode) && !texts.some((text) => text?.includes("\0"));
  if (!isPossible) return { ...everyPosition, isPossible };
  const choice = { ...everyPosition, search: planSearch(search), orderCode: order || undefined, usableAt };
  if (filters === undefined) return choice;
  const statuses = filters.orderStatuses?.words.flatMap((letter) => toOrderStatusOfLetter(letter) ?? []);
  const { attendeeName, secret, pseudonymizationId, voucher, hasCheckin } = filters;
  return {
    ...choice,
    attendeeName,
    secret,
    pseudonymizationId,
    voucher: voucher ?? voucherOfCode,
    hasCheckin,
    items: differentOf(filters.items),
    variations: differentOf(filters.variations),
    subevents: differentOf(filters.subevents),
    addonTo: differentOf(filters.addonTo),
    orderStatuses: statuses && [...new Set(statuses)],
  };
}

/** Whether the voucher with the requested code exists, and is the requested voucher. */
function hasVoucherOf(filters: PositionFilters | undefined, voucherOfCode: number | undefined): boolean {
  if (filters?.voucherCode === undefined) return true;
  return voucherOfCode !== undefined && (filters.voucher ?? voucherOfCode) === voucherOfCode;
}

/** Deduplicated: every ticket is compared with each of these ids. */
function differentOf(sent: readonly Ids[]): readonly (readonly number[])[] {
  return sent.map(({ ids }) => [...new Set(ids)]);
}

export async function resolveVoucher(
  db: Queryable,
  place: EventKey,
  filters: PositionFilters | undefined,
): Promise<number | undefined> {
  const code = filters?.voucherCode;
  return code === undefined || code.includes("\0") ? undefined : findVoucherOfCode(db, place, code);
}

export async function findUnknownIds(
  db: Queryable,
  place: EventKey,
  filters: PositionFilters | undefined,
): Promise<Fault | undefined> {
  if (filters === undefined) return undefined;
  return findUnknown(db, place, [
    ["item", filters.items],
    ["variation", filters.variations],
    ["subevent", filters.subevents],
    ["position", filters.addonTo],
    nameOne("voucher", filters.voucher),
  ]);
}

import type { Clock } from "@tessera/kit/clock";
import type { Db } from "@tessera/kit/pg/database";
import type { Voucher as VoucherOnWire } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import type { Outcome } from "../creations.ts";
import type { VoucherChange } from "../domain/check-voucher.ts";
import { namesGuest } from "../domain/guest-comment.ts";
import type { VoucherEvents } from "../events.ts";
import type { EventKey } from "../store/keys.ts";
import { findCodes, nextVoucherIds } from "../store/vouchers.ts";
import { findKnown } from "./check-against-event.ts";
import {
  checkNew,
  checkTaken,
  drawCodes,
  findErasing,
  firstErrors,
  isWrong,
  makeVouchers,
  retryTaken,
  storeNew,
  toFault,
} from "./new-vouchers.ts";

/** Creates the vouchers of several requests in one event, which take no capacity: of each request all or none. */
export async function createTogether(
  { db, clock, events }: { readonly db: Db; readonly clock: Clock; readonly events: VoucherEvents },
  place: EventKey,
  requests: readonly (readonly VoucherChange[])[],
): Promise<readonly Outcome<readonly VoucherOnWire[]>[]> {
  const known = await findKnown(
    db,
    place,
    requests.flat().map(({ fields }) => fields),
  );
  const invalid = requests.map((asked) => checkNew(asked, known));
  const codes = requests.flat().flatMap(({ fields: { code } }) => (code === "" ? [] : [code]));
  const now = clock.now();
  const outcomes = await retryTaken(() =>
    db.transaction(async (tx) => {
      const taken = new Set((await findCodes(tx, place, codes)).keys());
      const all = requests.flatMap((asked) => asked.map(({ fields }) => fields));
      const erasing = await findErasing(tx, place, all);
      const refusals = requests.map((asked, index) => {
        const wanted = asked.map(({ fields }) => fields);
        const isCodeTaken = (code: string) => taken.has(code);
        const wrong = invalid[index] ?? [];
        const refusal =
          (wanted.some(namesGuest) && !wrong.some(isWrong) ? erasing : undefined) ??
          toFault(firstErrors(wrong, checkTaken(wanted, { isCodeTaken, series: known.series })));
        if (refusal === undefined) for (const { code } of wanted) taken.add(code);
        return refusal;
      });
      const accepted = requests.filter((_, index) => refusals[index] === undefined).flat();
      const ids = await nextVoucherIds(tx, accepted.length);
      const stored = await storeNew(tx, place, drawCodes(makeVouchers(accepted, { ids, now })));
      const left = [...stored];
      return requests.map(({ length }, index): Outcome<readonly VoucherOnWire[]> => {
        const refusal = refusals[index];
        return refusal === undefined ? { created: left.splice(0, length) } : { refusal };
      });
    }),
  );
  const count = outcomes.reduce((sum, outcome) => sum + ("created" in outcome ? outcome.created.length : 0), 0);
  if (count > 0) events.vouchersCreated(place, count);
  return outcomes;
}

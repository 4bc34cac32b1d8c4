import { answerOnce, findAnswer } from "@tessera/events/answer-once";
import type { Clock } from "@tessera/kit/clock";
import type { Db } from "@tessera/kit/pg/database";
import { mapInSlices } from "@tessera/kit/waiting/in-slices";
import type { CreateVouchersRequest, CreateVouchersResponse } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { Vouchers } from "@tessera/protos/services";
import { type HoldTools, holdWhile } from "../capacity/holds.ts";
import type { KnownReferences, VoucherChange, VoucherErrors } from "../domain/check-voucher.ts";
import { findNeed } from "../domain/takes-capacity.ts";
import { fault } from "../faults.ts";
import type { EventKey } from "../store/keys.ts";
import { findCodes, nextVoucherIds } from "../store/stored-vouchers.ts";
import { fromWireProblem, toWireNeed } from "../wire/capacity.ts";
import { findKnown } from "./check-against-event.ts";
import {
  checkNew,
  checkTaken,
  drawCodes,
  findErasing,
  firstErrors,
  isWrong,
  makeVouchers,
  readNew,
  retryTaken,
  storeNew,
  toFault,
} from "./new-vouchers.ts";

/** The limit of a request. */
const mostVouchers = 10_000;

/** Adds vouchers to an event: all of them or none. */
export async function createVouchers(
  request: CreateVouchersRequest,
  tools: HoldTools & { readonly clock: Clock },
): Promise<CreateVouchersResponse> {
  const { organizer, event } = request;
  const place = { organizer, event };
  if (request.vouchers.length > mostVouchers) {
    throw fault("too_many_vouchers", `Create at most ${mostVouchers} vouchers at once.`);
  }
  const answered = await findAnswer(tools.db, Vouchers.createVouchers);
  if (answered !== undefined) return answered;
  const { db, clock, events } = tools;
  const asked = await mapInSlices(request.vouchers, readNew);
  const known = await findKnown(
    db,
    place,
    asked.map(({ fields }) => fields),
  );
  const wrong = await checkNew(asked, known);
  if (wrong.some(isWrong)) await refuseWrong(db, place, asked, { known, wrong });
  const now = clock.now();
  const vouchers = await makeVouchers(asked, { ids: await nextVoucherIds(db, asked.length), now });
  const needed = await mapInSlices(vouchers, (voucher, index) => {
    const need = findNeed(voucher, { before: undefined, now });
    return need === undefined ? [] : [{ index, need: toWireNeed(voucher.id, 0, need) }];
  });
  const needs = needed.flat();
  return holdWhile(tools, { place, needs: needs.map(({ need }) => need) }, async (held) => {
    const problems = Map.groupBy(held.problems, ({ need }) => needs[need]?.index ?? -1);
    const response = await retryTaken(() =>
      answerOnce(
        db,
        Vouchers.createVouchers,
        async (tx) => {
          const codes = vouchers.flatMap(({ code }) => (code === "" ? [] : [code]));
          const taken = await findCodes(tx, place, codes);
          const refusal = toFault(
            await checkTaken(vouchers, {
              isCodeTaken: (code) => taken.has(code),
              ledgerOf: (index) => (problems.get(index) ?? []).map(fromWireProblem),
              series: known.series,
            }),
          );
          if (refusal !== undefined) throw refusal;
          const erasing = await findErasing(tx, place, vouchers);
          if (erasing !== undefined) throw erasing;
          const stored = await storeNew(tx, place, await drawCodes(vouchers));
          await held.confirm(tx);
          return { vouchers: [...stored] };
        },
        { of: place },
      ),
    );
    if (response.vouchers[0]?.id === vouchers[0]?.id) events.vouchersCreated(place, vouchers.length);
    return response;
  });
}

/** Throws everything that is wrong with vouchers, apart from the ledger. */
async function refuseWrong(
  db: Db,
  place: EventKey,
  asked: readonly VoucherChange[],
  { known, wrong }: { readonly known: KnownReferences; readonly wrong: readonly VoucherErrors[] },
): Promise<void> {
  const wanted = asked.map(({ fields }) => fields);
  const taken = await findCodes(
    db,
    place,
    wanted.flatMap(({ code }) => (code === "" ? [] : [code])),
  );
  const errors = await checkTaken(wanted, { isCodeTaken: (code) => taken.has(code), series: known.series });
  const refusal = toFault(firstErrors(wrong, errors));
  if (refusal !== undefined) throw refusal;
}

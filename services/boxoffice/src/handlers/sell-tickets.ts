import { createHash } from "node:crypto";
import type { Db, Tx } from "@tessera/kit/pg/database";
import { type SellTicketsRequest, SellTicketsResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/sales";
import type { EventDocument, EventSettings } from "@tessera/resources/records/event";
import type { ItemDocument } from "@tessera/resources/records/item";
import type { SubeventDocument } from "@tessera/resources/records/subevent";
import { isUuid } from "@tessera/values";
import { findSaleProblems, type SaleProblem } from "../domain/find-sale-problems.ts";
import { findQuotaProblems } from "../domain/fit-needs.ts";
import type { Scope } from "../domain/scope.ts";
import { fault } from "../faults.ts";
import type { Category } from "../records/category.ts";
import { defaultSettings } from "../records/event-settings.ts";
import { type Documents, toMoney, toOffer } from "../records/offer.ts";
import { makeOrders, type Ticket } from "../records/sold-orders.ts";
import type { TaxRule } from "../records/tax-rule.ts";
import type { BoxofficeEvents } from "../report-events.ts";
import { lockPresent } from "../store/events.ts";
import { lockOfHolds, locksOf, takeLocks } from "../store/locks.ts";
import * as sales from "../store/sales.ts";
import { readRoom } from "./quota-room.ts";

/**
 * Makes paid orders, all or nothing. The id of the sale is an idempotency key, and the answer is stored in the same
 * transaction: a repeated request gets it again. Refusals are not stored, and may be retried.
 */
export async function sellTickets(
  request: SellTicketsRequest,
  { db, events }: { db: Db; events: BoxofficeEvents },
): Promise<SellTicketsResponse> {
  const sale = readSale(request);
  const { answer, isNew } = await db.transaction((tx) => (request.onlyCheck ? check(tx, sale) : sell(tx, sale)));
  if (isNew) events.saleMade({ ...sale.scope, sale: sale.id, tickets: answer.tickets.length });
  return answer;
}

interface Sale {
  readonly scope: Scope;
  readonly id: string;
  readonly wanted: Wanted;
}

interface Wanted {
  readonly item: number;
  readonly variation: number | null;
  readonly subevent: number | null;
  readonly salesChannel: string;
  readonly testmode: boolean;
  readonly amount: number;
}

function readSale(request: SellTicketsRequest): Sale {
  const { organizer, event, sale: id, onlyCheck } = request;
  const { item, variation = null, subevent = null, salesChannel, testmode, amount } = request;
  if (!onlyCheck && !isUuid(id)) throw fault("sale_invalid", "a sale is named by a UUID");
  if (`${organizer}${event}${salesChannel}`.includes("\0")) throw fault("sale_invalid", "a text has a null character");
  return { scope: { organizer, event }, id, wanted: { item, variation, subevent, salesChannel, testmode, amount } };
}

interface Outcome {
  readonly answer: SellTicketsResponse;
  readonly isNew: boolean;
}

async function check(tx: Tx, { scope, wanted }: Sale): Promise<Outcome> {
  const documents = await readDocuments(tx, scope, wanted);
  return { answer: { problems: findSaleProblems(wanted, toOffer(documents, wanted)), tickets: [] }, isNew: false };
}

async function sell(tx: Tx, { scope, id, wanted }: Sale): Promise<Outcome> {
  // Order codes are unique in the organizer, so no event of the organizer may get an order in between.
  await takeLocks(tx, [...locksOf([{ ...scope, event: "" }, scope]), lockOfHolds(scope)]);
  const requestHash = hashOf(wanted);
  const earlier = await sales.findSale(tx, scope, id);
  if (earlier !== undefined) {
    if (!requestHash.equals(earlier.requestHash)) {
      throw fault("sale_differs", "other tickets were sold in this sale, or it was canceled before it was made");
    }
    const answer = SellTicketsResponse.decode(earlier.answer);
    return { answer: earlier.isCanceled ? { ...answer, canceled: true } : answer, isNew: false };
  }
  const [present] = await lockPresent(tx, [scope]);
  if (present === undefined) throw noSuchEvent();
  const documents = await readDocuments(tx, scope, wanted);
  const refuse = (problems: SaleProblem[]): Outcome => ({ answer: { problems, tickets: [] }, isNew: false });
  const problems = findSaleProblems(wanted, toOffer(documents, wanted));
  const { item } = documents;
  if (problems.length > 0 || item === null) return refuse(problems);
  const shortage = await findShortage(tx, scope, { wanted, now: present.now });
  if (shortage !== undefined) return refuse([{ field: "", message: shortage }]);
  const ticket = toTicket(wanted, { documents: { ...documents, item }, soldAt: present.now });
  const tickets = await makeOrders(tx, scope, { ticket, amount: wanted.amount });
  const answer = { problems: [], tickets };
  await sales.storeSale(tx, scope, { id, requestHash, answer: SellTicketsResponse.encode(answer).finish() });
  return { answer, isNew: true };
}

async function readDocuments(tx: Tx, scope: Scope, wanted: Wanted): Promise<Documents> {
  const documents = await sales.readOffer<
    EventDocument,
    EventSettings,
    ItemDocument,
    SubeventDocument,
    TaxRule,
    Category
  >(tx, scope, wanted);
  if (documents === undefined) throw noSuchEvent();
  return documents;
}

function noSuchEvent() {
  return fault("no_such_event", "this event does not exist");
}

function hashOf({ item, variation, subevent, salesChannel, testmode, amount }: Wanted): Buffer {
  const asked = JSON.stringify([item, variation, subevent, salesChannel, testmode, amount]);
  return createHash("sha256").update(asked).digest();
}

/** Why there are too few tickets, for people; undefined: there are enough. */
async function findShortage(
  tx: Tx,
  scope: Scope,
  { wanted: { item, variation, subevent, amount }, now }: { readonly wanted: Wanted; readonly now: number },
): Promise<string | undefined> {
  const taken = { item, variation, subevent, quota: null, usages: amount };
  const { match } = await readRoom(tx, scope, [taken]);
  const need = { ...taken, voucher: 0, basedOn: 0, isChecked: true, validUntil: null, seat: null };
  const problem = findQuotaProblems([need], { match, claims: new Map(), uses: new Map(), now }).get(0);
  if (problem === undefined) return undefined;
  if (problem.kind !== "too_little_left") return "No quota has this item on this date, so none of it can be sold.";
  const quota = match.affectedBy(taken).find(({ id }) => id === problem.quota);
  if (quota?.closed === true) return `Quota ${problem.quota} is closed, so none of this item can be sold.`;
  return `There are not enough tickets: ${amount} are wanted, and quota ${problem.quota} has ${Math.max(0, quota?.left ?? 0)} left.`;
}

function toTicket(
  { item: id, variation, subevent, salesChannel, testmode }: Wanted,
  { documents, soldAt }: { readonly documents: Documents & { readonly item: ItemDocument }; readonly soldAt: number },
): Ticket {
  const { item } = documents;
  const settings = { ...defaultSettings.data, ...documents.settings };
  const isFixed = item.validity_mode === "fixed";
  return {
    item: id,
    variation,
    subevent,
    salesChannel,
    testmode,
    locale: settings.locale,
    money: toMoney(documents, { item: id, variation, salesChannel }),
    validFrom: isFixed ? item.validity_fixed_from : null,
    validUntil: isFixed ? item.validity_fixed_until : null,
    secretLength: settings.ticket_secret_length,
    soldAt,
  };
}

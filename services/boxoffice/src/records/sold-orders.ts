import { randomBytes } from "node:crypto";
import type { Tx } from "@tessera/kit/pg/database";
import { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { Reading } from "@tessera/records/read";
import { formatInstant } from "@tessera/values";
import type { Scope } from "../domain/scope.ts";
import type { Money } from "../domain/tax.ts";
import {
  bytesFor,
  lengths,
  makeOrderCodes,
  makeOrderSecrets,
  makePseudonyms,
  makeTicketSecrets,
} from "../domain/ticket-codes.ts";
import { fault } from "../faults.ts";
import { readRows } from "../store/positions.ts";
import { findMentioned, nothingMentioned } from "../store/references.ts";
import * as sales from "../store/sales.ts";
import { toCanceled } from "../wire/position-message.ts";
import { order, readOrder, storePositions, toRecord } from "./order.ts";
import type { OrderData } from "./order-data.ts";

/** The common fields of the orders of a sale. */
export interface Ticket {
  readonly item: number;
  readonly variation: number | null;
  readonly subevent: number | null;
  readonly salesChannel: string;
  readonly testmode: boolean;
  readonly locale: string;
  readonly money: Money;
  /** In the format of documents. */
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  readonly secretLength: number;
  /** In microseconds since 1970. */
  readonly soldAt: number;
}

/** The unique names of an order of a sale. */
interface Names {
  readonly code: string;
  readonly orderSecret: string;
  readonly position: number;
  readonly secret: string;
  readonly pseudonym: string;
}

export interface SoldTicket {
  /** The code of its order. */
  readonly order: string;
  readonly position: number;
}

/** Few enough that the event loop has turns in between. */
const ordersAtATime = 1000;

/** Makes paid orders of one ticket each, stored as records would be. */
export async function makeOrders(
  tx: Tx,
  scope: Scope,
  { ticket, amount }: { readonly ticket: Ticket; readonly amount: number },
): Promise<SoldTicket[]> {
  const template = readTemplate(ticket);
  const known = await findMentioned(tx, scope, nothingMentioned());
  const named = await drawNames(tx, scope, { ticket, amount });
  for (let at = 0; at < amount; at += ordersAtATime) {
    const part = named.slice(at, at + ordersAtATime);
    const tickets = part.map(({ code, position, secret, pseudonym }) => ({
      position,
      orderCode: code,
      secret,
      pseudonymizationId: pseudonym,
    }));
    if (!(await sales.storeTickets(tx, scope, tickets))) {
      throw fault("concurrent_change", "another sale has drawn the same codes; try again", { retryAfterMs: 1000 });
    }
    const values = part.map((names) => toRecord(nameOrder(template, { names, money: ticket.money })));
    await order.store(tx, { scope, values, known });
  }
  return named.map(({ code, position }) => ({ order: code, position }));
}

/** An order without names, and its document. Amounts are set later: the currency may have more places than records. */
interface Template {
  readonly data: OrderData;
  readonly document: Readonly<Record<string, unknown>>;
  readonly position: OrderData["positions"][number];
  readonly positionDocument: Readonly<Record<string, unknown>>;
}

function readTemplate({ money, soldAt, validFrom, validUntil, ...ticket }: Ticket): Template {
  const at = formatInstant(soldAt);
  const sent = {
    code: "A",
    status: "p",
    testmode: ticket.testmode,
    locale: ticket.locale,
    sales_channel: ticket.salesChannel,
    datetime: at,
    last_modified: at,
    positions: [
      {
        id: 1,
        positionid: 1,
        item: ticket.item,
        variation: ticket.variation,
        subevent: ticket.subevent,
        tax_rate: money.taxRate,
        tax_code: money.taxCode,
        tax_rule: money.taxRule,
        valid_from: validFrom,
        valid_until: validUntil,
        secret: "A",
      },
    ],
  };
  const checked = readOrder(sent);
  if (!checked.ok) throw new Error(`an order that is made here is refused: ${Object.keys(checked.errors).join(", ")}`);
  const { data } = checked.value;
  const [position] = data.positions;
  const { positions: documents, ...document } = JSON.parse(checked.value.document) as Record<string, unknown> & {
    readonly positions: readonly Readonly<Record<string, unknown>>[];
  };
  const [positionDocument] = documents;
  if (position === undefined || positionDocument === undefined)
    throw new Error("an order was read without its position");
  return { data, document, position, positionDocument };
}

function nameOrder(
  { data, document, position, positionDocument }: Template,
  { names, money }: { readonly names: Names; readonly money: Money },
): Reading<OrderData> {
  const ofOrder = { code: names.code, secret: names.orderSecret, total: money.price };
  const ofPosition = {
    id: names.position,
    price: money.price,
    tax_value: money.taxValue,
    secret: names.secret,
    pseudonymization_id: names.pseudonym,
  };
  return {
    data: { ...data, ...ofOrder, positions: [{ ...position, ...ofPosition }] },
    document: JSON.stringify({ ...document, ...ofOrder, positions: [{ ...positionDocument, ...ofPosition }] }),
  };
}

type FindTaken = (tx: Tx, scope: Scope, texts: readonly string[]) => Promise<Set<string>>;

/** Draws the unique names of orders. Codes and secrets are looked up, under the lock of the organizer. */
async function drawNames(
  tx: Tx,
  scope: Scope,
  { ticket: { testmode, secretLength }, amount }: { readonly ticket: Ticket; readonly amount: number },
): Promise<Names[]> {
  const draw = (length: number, make: (bytes: Uint8Array, round: number) => string[], findTaken?: FindTaken) =>
    drawTexts(tx, scope, { amount, length, make, findTaken });
  // If hardly any code is left, codes get longer.
  const makeCodes = (bytes: Uint8Array, round: number) =>
    makeOrderCodes(bytes, { length: lengths.order + Math.floor(round / roundsPerLength), testmode });
  const codes = await draw(lengths.order, makeCodes, sales.findTakenCodes);
  const orderSecrets = await draw(lengths.orderSecret, makeOrderSecrets);
  const secrets = await draw(secretLength, (bytes) => makeTicketSecrets(bytes, secretLength), sales.findTakenSecrets);
  const pseudonyms = await draw(lengths.pseudonym, makePseudonyms, sales.findTakenPseudonyms);
  const ids = await sales.drawPositionIds(tx, amount);
  return ids.map((position, index) => ({
    position,
    code: codes[index] ?? "",
    orderSecret: orderSecrets[index] ?? "",
    secret: secrets[index] ?? "",
    pseudonym: pseudonyms[index] ?? "",
  }));
}

const roundsPerLength = 8;

async function drawTexts(
  tx: Tx,
  scope: Scope,
  {
    amount,
    length,
    make,
    findTaken,
  }: {
    readonly amount: number;
    readonly length: number;
    readonly make: (bytes: Uint8Array, round: number) => string[];
    readonly findTaken: FindTaken | undefined;
  },
): Promise<string[]> {
  const drawn = new Set<string>();
  for (let round = 0; drawn.size < amount; round += 1) {
    const missing = amount - drawn.size;
    const made = new Set(make(randomBytes(bytesFor(missing, length)), round));
    const fresh = [...made].filter((text) => !drawn.has(text)).slice(0, missing);
    const taken = await findTaken?.(tx, scope, fresh);
    for (const text of fresh) if (taken?.has(text) !== true) drawn.add(text);
  }
  return [...drawn];
}

/** Cancels the orders of a sale that are not canceled yet, and returns how many. */
export async function cancelOrders(
  tx: Tx,
  scope: Scope,
  { tickets, at }: { readonly tickets: readonly SoldTicket[]; readonly at: number },
): Promise<number> {
  let canceled = 0;
  for (let from = 0; from < tickets.length; from += ordersAtATime) {
    const part = tickets.slice(from, from + ordersAtATime);
    const codes = part.map(({ order: code }) => code);
    const orders = new Set(await sales.cancelOrders(tx, scope, { codes, at: formatInstant(at) }));
    const stored = await readRows(
      tx,
      scope,
      part.map(({ position }) => position),
    );
    // Other orders were canceled before, or their position belongs to another order now.
    const canceledNow = stored.filter(({ orderCode }) => orders.has(orderCode));
    const rows = canceledNow.map((row) => ({
      ...row,
      takenAs: null,
      state: Position.encode(toCanceled(Position.decode(row.state))).finish(),
    }));
    // Tickets that are made here name no voucher.
    await storePositions(tx, scope, rows, new Map());
    canceled += orders.size;
  }
  return canceled;
}

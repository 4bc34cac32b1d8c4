import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { eventData, itemData, listData, ofEvent } from "../e2e/sample-records.ts";
import { apiKey, toLines } from "./festival.ts";
import { describeFailure } from "./import-until-answered.ts";

/** An event of its own, so that there are no other orders. */
const batchfair = "batchfair";
const pathOf = (event: string) => `/api/v1/organizers/bigevents/events/${event}`;

/** The event with its product, its layout and its list, as records. */
export const batchEvent = toLines(
  [
    ["event", eventData({ slug: batchfair })] as const,
    ["category", { id: 1, name: { en: "Tickets" }, position: 1 }] as const,
    ["item", itemData({ id: 1 })] as const,
    ["quota", { id: 1, name: "Endless", size: null, items: [1], variations: [] }] as const,
    ["checkin_list", listData()] as const,
    ["ticket_layout", { id: 1, name: "Plain", default: true, layout: [] }] as const,
  ].map(([kind, data]) => ofEvent(kind, data, batchfair)),
);

/** How a batch ended. */
export interface EndedBatch {
  readonly status: number;
  readonly body: { readonly id: number; readonly amount: number; readonly orders: readonly string[] };
  isCanceled?: boolean;
}

const headers = { authorization: `Token ${apiKey}`, "content-type": "application/json" };

/** After so long a batch hangs. */
const endsWithinMs = 300_000;

export interface WantedBatch {
  readonly item: number;
  readonly amount: number;
  readonly event?: string;
  /** That of another request makes this one its repetition. */
  readonly key?: string;
}

/** Asks for a batch like a client that needs one: with the same key until there is an answer. Returns where it is shown. */
export async function askForBatch(
  baseUrl: string,
  { item, amount, event = batchfair, key = randomUUID() }: WantedBatch,
): Promise<string> {
  const sent = { ...headers, "x-idempotency-key": key };
  const body = JSON.stringify({ layout: 1, sales_channel: "web", item, amount });
  const answer = await untilAnswered(
    () => fetch(`${baseUrl}${pathOf(event)}/offlinesalesbatches/`, { method: "POST", headers: sent, body }),
    (status) => status === 202,
  );
  return `${baseUrl}${new URL((answer.body as { readonly check: string }).check).pathname}`;
}

/** Cancels a batch, again until it is canceled. */
export async function cancelBatch(baseUrl: string, { event, id }: { readonly event: string; readonly id: number }) {
  const address = `${baseUrl}${pathOf(event)}/offlinesalesbatches/${id}/cancel/`;
  const body = JSON.stringify({ force: false });
  await untilAnswered(
    () => fetch(address, { method: "POST", headers, body }),
    (status) => status === 200,
  );
}

/** Waits for the end of a batch. Tries that failed are repeated at once, and not seconds later. */
export async function untilEnded(db: Db, address: string): Promise<EndedBatch> {
  const answer = await untilAnswered(
    async () => {
      await db.run(
        sql`update offline_sales.work set due_at = now() where work.state = 'waiting' and work.due_at > now()`,
      );
      return fetch(address, { headers });
    },
    (status) => status === 200 || status === 410,
  );
  return answer as EndedBatch;
}

async function untilAnswered(ask: () => Promise<Response>, isIt: (status: number) => boolean) {
  let last = "";
  for (const until = Date.now() + endsWithinMs; Date.now() < until; await sleep(50)) {
    try {
      const answer = await ask();
      const body: unknown = await answer.json();
      if (isIt(answer.status)) return { status: answer.status, body };
      last = `${answer.status} ${JSON.stringify(body)}`;
      // Whatever dies, a client is told to wait, or to come again.
      if (![409, 503, 504].includes(answer.status)) break;
    } catch (error) {
      last = describeFailure(error);
    }
  }
  throw new Error(`a batch was answered ${last}`);
}

/** Ends the leases of processes that were killed, as half a minute would. */
export async function endLeases(db: Db): Promise<void> {
  await db.run(sql`update offline_sales.work set due_at = now() where work.state = 'running'`);
}

interface Comparison {
  readonly found: string[];
  /** How many tickets all batches have. */
  readonly total: number;
}

/** Compares the batches of an event with what was sold, told to gates, and shown to clients. */
export async function compareBatches(
  db: Db,
  { event, ended }: { readonly event: string; readonly ended: readonly EndedBatch[] },
): Promise<Comparison> {
  const found: string[] = [];
  const rows = await db.many<{
    id: number;
    amount: number;
    made: number;
    orders: string[];
    sold: boolean;
    isCanceled: boolean;
  }>(sql`
    select batch.id, batch.amount, batch.orders, batch.canceled_at is not null as "isCanceled",
           (select count(*)
              from unnest(batch.orders, batch.positions) as made (code, position)
              join boxoffice."order"
                on "order".event = batch.event
                   and "order".code = made.code
                   and "order".status = case when batch.canceled_at is null then 'p' else 'c' end
              join boxoffice.position
                on position.event = batch.event and position.id = made.position and position.order_code = made.code
              join checkin.position as at_gate
                on at_gate.event = batch.event and at_gate.id = made.position and at_gate.order_code = made.code)
             as made,
           exists (select from boxoffice.sale where sale.event = batch.event and sale.id = batch.job) as sold
      from offline_sales.batch
     where batch.event = ${event}`);
  for (const { id, amount, made, sold } of rows)
    if (made !== amount || !sold) found.push(`batch ${id} of ${amount} has ${made} tickets; its sale exists: ${sold}`);
  const shown = ended.filter(({ status }) => status === 200);
  if (shown.length !== rows.length) found.push(`${shown.length} batches were shown, and there are ${rows.length}`);
  for (const { body, isCanceled = false } of shown) {
    const stored = rows.find(({ id }) => id === body.id);
    if (stored?.orders.join() !== body.orders.join() || stored.isCanceled !== isCanceled)
      found.push(`batch ${body.id} is shown otherwise than it is stored`);
  }
  const total = rows.reduce((sum, { amount }) => sum + amount, 0);
  const { made, sales } = await db.one<{ made: number; sales: number }>(sql`
    select (select count(*) from boxoffice.sold_ticket where sold_ticket.event = ${event}) as made,
           (select count(*) from boxoffice.sale where sale.event = ${event}) as sales`);
  if (made !== total) found.push(`${made} tickets were made here, for batches of ${total}`);
  if (sales !== rows.length) found.push(`there are ${sales} sales of ${rows.length} batches`);
  return { found, total };
}

/** Compares batches of the event that has nothing else, also with what all tables count; returns each contradiction. */
export async function checkBatches({
  db,
  baseUrl,
  ended,
}: {
  readonly db: Db;
  readonly baseUrl: string;
  readonly ended: readonly EndedBatch[];
}): Promise<string[]> {
  const { found, total } = await compareBatches(db, { event: batchfair, ended });
  const counts = await db.one<Record<string, number>>(sql`
    select (select count(*) from boxoffice."order" where "order".event = ${batchfair}) as orders,
           (select count(*) from boxoffice.position where position.event = ${batchfair}) as positions,
           (select coalesce(sum(taken_capacity.positions), 0)::bigint
              from boxoffice.taken_capacity
             where taken_capacity.event = ${batchfair}) as "tickets that take quota",
           (select count(*) from checkin.position where position.event = ${batchfair}) as "tickets at gates"`);
  for (const [what, count] of Object.entries(counts))
    if (count !== total) found.push(`there are ${count} ${what}, and batches of ${total}`);
  const list = (await (await fetch(`${baseUrl}${pathOf(batchfair)}/checkinlists/1/status/`, { headers })).json()) as {
    readonly position_count: number;
  };
  if (list.position_count !== total) found.push(`the list counts ${list.position_count} of ${total} tickets`);
  const shown = ended.reduce((sum, { status, body }) => sum + (status === 200 ? Number(body.amount) : 0), 0);
  if (shown !== total) found.push(`${shown} tickets were shown, and there are ${total}`);
  return found;
}

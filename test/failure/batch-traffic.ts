import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { eventData, itemData, listData, ofEvent } from "../e2e/sample-records.ts";
import { apiKey, toLines } from "./festival.ts";
import { describeFailure } from "./import-until-answered.ts";

/** An event of its own, so that orders of others do not take its quotas. */
const event = "batchfair";
const eventPath = `/api/v1/organizers/bigevents/events/${event}`;

/** Item 1 is sold without end, item 2 as often as this. */
export const limited = { item: 2, size: 100 } as const;

/** The event with its products, its layout and its list, as records. */
export const batchEvent = toLines(
  [
    ["event", eventData({ slug: event })] as const,
    ["category", { id: 1, name: { en: "Tickets" }, position: 1 }] as const,
    ...[1, limited.item].map((id) => ["item", itemData({ id })] as const),
    ["quota", { id: 1, name: "Endless", size: null, items: [1], variations: [] }] as const,
    ["quota", { id: 2, name: "Limited", size: limited.size, items: [limited.item], variations: [] }] as const,
    ["checkin_list", listData()] as const,
    ["ticket_layout", { id: 1, name: "Plain", default: true, layout: [] }] as const,
  ].map(([kind, data]) => ofEvent(kind, data, event)),
);

/** How a batch ended. */
export interface EndedBatch {
  readonly status: number;
  readonly body: { readonly id: number; readonly amount: number; readonly orders: readonly string[] };
}

const headers = { authorization: `Token ${apiKey}`, "content-type": "application/json" };

/** After so long a batch hangs. */
const endsWithinMs = 500_000;

/** Asks for a batch like a client that needs one: with the same key until there is an answer. Returns where it is shown. */
export async function askForBatch(baseUrl: string, wanted: { readonly item: number; readonly amount: number }) {
  const sent = { ...headers, "x-idempotency-key": randomUUID() };
  const body = JSON.stringify({ layout: 1, sales_channel: "web", ...wanted });
  const answer = await untilAnswered(
    () => fetch(`${baseUrl}${eventPath}/offlinesalesbatches/`, { method: "POST", headers: sent, body }),
    (status) => status === 202,
  );
  return `${baseUrl}${new URL((answer.body as { readonly check: string }).check).pathname}`;
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

/** Compares batches with what was sold, taken and told to gates, and with what clients were shown; returns each contradiction. */
export async function checkBatches({
  db,
  baseUrl,
  ended,
}: {
  readonly db: Db;
  readonly baseUrl: string;
  readonly ended: readonly EndedBatch[];
}): Promise<string[]> {
  const found: string[] = [];
  const rows = await db.many<{ id: number; amount: number; made: number; orders: string[]; sold: boolean }>(sql`
    select batch.id, batch.amount, batch.orders,
           (select count(*)
              from unnest(batch.orders, batch.positions) as made (code, position)
              join boxoffice."order"
                on "order".event = batch.event and "order".code = made.code and "order".status = 'p'
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
  const made = ended.filter(({ status }) => status === 200);
  if (made.length !== rows.length) found.push(`${made.length} batches were shown, and there are ${rows.length}`);
  for (const { body } of made) {
    const stored = rows.find(({ id }) => id === body.id);
    if (stored?.orders.join() !== body.orders.join())
      found.push(`batch ${body.id} is shown otherwise than it is stored`);
  }
  const total = rows.reduce((sum, { amount }) => sum + amount, 0);
  const counts = await db.one<Record<string, number>>(sql`
    select (select count(*) from boxoffice."order" where "order".event = ${event}) as orders,
           (select count(*) from boxoffice.position where position.event = ${event}) as positions,
           (select count(*) from boxoffice.sold_ticket where sold_ticket.event = ${event}) as "tickets made here",
           (select coalesce(sum(taken_capacity.positions), 0)::bigint
              from boxoffice.taken_capacity
             where taken_capacity.event = ${event}) as "tickets that take quota",
           (select count(*) from checkin.position where position.event = ${event}) as "tickets at gates"`);
  for (const [what, count] of Object.entries(counts))
    if (count !== total) found.push(`there are ${count} ${what}, and batches of ${total}`);
  const sales = await db.one<{ sales: number }>(sql`
    select count(*) as sales
      from boxoffice.sale
     where sale.event = ${event}`);
  if (sales.sales !== rows.length) found.push(`there are ${sales.sales} sales of ${rows.length} batches`);
  const list = (await (await fetch(`${baseUrl}${eventPath}/checkinlists/1/status/`, { headers })).json()) as {
    readonly position_count: number;
  };
  if (list.position_count !== total) found.push(`the list counts ${list.position_count} of ${total} tickets`);
  const sold = rows.length === 0 ? 0 : made.reduce((sum, { body }) => sum + Number(body.amount), 0);
  if (sold !== total) found.push(`${sold} tickets were shown, and there are ${total}`);
  return found;
}

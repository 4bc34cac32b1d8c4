import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "@tessera/kit/pg/database";
import type { Dice } from "@tessera/testkit/dice";
import { askForBatch, cancelBatch, type EndedBatch, untilEnded } from "./batch-traffic.ts";
import { toLines } from "./festival.ts";
import { describeFailure, importUntilAnswered } from "./import-until-answered.ts";
import {
  event,
  type RecordedState,
  recordedOrder,
  recordedStates,
  sharedQuotas,
  standingOrders,
} from "./shared-quotas.ts";

export interface QuotaSales {
  /** How all batches ended that were asked for. */
  readonly ended: readonly EndedBatch[];
  /** Answers that no client may get, whatever dies. */
  readonly oddities: readonly string[];
  readonly outcomes: Readonly<Record<"batches" | "refused" | "canceled" | "records", number>>;
  /** Begins nothing more, waits for everything begun, and deletes all orders without a voucher. */
  close(): Promise<void>;
}

const passingOrders = 4;

/** Of records; each waits until its last ones are visible everywhere. */
const senders = 2;

/** Starts clients that sell batches and cancel them, and one whose orders come as records, all without vouchers. */
export function startQuotaSales({
  baseUrls,
  dice,
  db,
  clients,
}: {
  readonly baseUrls: readonly [string, string];
  readonly dice: Dice;
  readonly db: Db;
  readonly clients: number;
}): QuotaSales {
  const ended: EndedBatch[] = [];
  const oddities: string[] = [];
  const outcomes = { batches: 0, refused: 0, canceled: 0, records: 0 };
  let isClosing = false;

  async function sellBatches(own: Dice): Promise<void> {
    let mine: EndedBatch[] = [];
    for (; !isClosing; await sleep(own.below(150))) {
      const chosen = mine.length === 0 ? undefined : own.pick(mine);
      if (chosen !== undefined && own.chance(50)) {
        await cancelBatch(own.pick(baseUrls), { event, id: chosen.body.id });
        chosen.isCanceled = true;
        mine = mine.filter((each) => each !== chosen);
        outcomes.canceled += 1;
        continue;
      }
      const batch = await untilEnded(db, await askTwice(own));
      ended.push(batch);
      if (batch.status === 200) mine.push(batch);
      outcomes[batch.status === 200 ? "batches" : "refused"] += 1;
    }
  }

  /** Asks for a batch; sometimes both gateways at once, under one key. */
  async function askTwice(own: Dice): Promise<string> {
    const { item } = own.pick(sharedQuotas);
    const amount = 1 + own.below(own.chance(20) ? 25 : 4);
    const asked = own.chance(40) ? baseUrls : [own.pick(baseUrls)];
    const key = randomUUID();
    const addresses = await Promise.all(asked.map((baseUrl) => askForBatch(baseUrl, { event, item, amount, key })));
    if (new Set(addresses.map((address) => new URL(address).pathname)).size > 1)
      oddities.push(`one request made two batches: ${addresses}`);
    return own.pick(addresses);
  }

  async function importRecords(baseUrl: string, records: readonly unknown[]): Promise<void> {
    await importUntilAnswered({ baseUrl, body: toLines(records), oddities });
  }

  async function sendRecords(own: Dice): Promise<void> {
    for (; !isClosing; await sleep(own.below(150))) {
      const records = Array.from({ length: 1 + own.below(8) }, () => {
        const at = own.below(standingOrders + passingOrders);
        const states: RecordedState[] = at < standingOrders ? ["paid", "pending"] : [...recordedStates];
        return recordedOrder(own.pick(sharedQuotas), { at, state: own.pick(states) });
      });
      await importRecords(own.pick(baseUrls), records);
      outcomes.records += 1;
    }
  }

  const working = [
    ...Array.from({ length: clients }, () => sellBatches(dice.fork())),
    ...Array.from({ length: senders }, () => sendRecords(dice.fork())),
  ];
  for (const each of working) each.catch((error: unknown) => oddities.push(describeFailure(error)));
  return {
    ended,
    oddities,
    outcomes,
    async close() {
      if (isClosing) return;
      isClosing = true;
      await Promise.all(working);
      const orders = Array.from({ length: standingOrders + passingOrders }, (_, at) => at);
      const gone = sharedQuotas.flatMap((quota) => orders.map((at) => recordedOrder(quota, { at, state: "deleted" })));
      await importRecords(baseUrls[0], gone);
    },
  };
}

import type { RecordOwner } from "@tessera/records/kind";
import type { Known } from "../domain/known.ts";
import { locksOf, takeLocks } from "../store/locks.ts";
import { findMentioned, type Mentioned, nothingMentioned } from "../store/references.ts";
import { apiKey } from "./api-key.ts";
import { blockedSecret } from "./blocked-secret.ts";
import { category } from "./category.ts";
import { device } from "./device.ts";
import { event } from "./event.ts";
import { eventSettings } from "./event-settings.ts";
import { gate } from "./gate.ts";
import { item } from "./item.ts";
import type { RecordKind } from "./kind.ts";
import { order } from "./order.ts";
import { organizer } from "./organizer.ts";
import { question } from "./question.ts";
import { quota } from "./quota.ts";
import { recall } from "./recall.ts";
import { reusableMedium } from "./reusable-medium.ts";
import { revokedSecret } from "./revoked-secret.ts";
import { salesChannel } from "./sales-channel.ts";
import { seat } from "./seat.ts";
import { subevent } from "./subevent.ts";
import { taxRule } from "./tax-rule.ts";

export const kinds: readonly RecordKind<unknown>[] = [
  organizer,
  salesChannel,
  apiKey,
  device,
  gate,
  event,
  eventSettings,
  subevent,
  taxRule,
  category,
  item,
  question,
  seat,
  quota,
  order,
  revokedSecret,
  blockedSecret,
  reusableMedium,
];

export const recordOwner: RecordOwner<Mentioned, Known> = {
  kinds,
  nothingMentioned,
  findMentioned,
  recall,
  lock: (tx, records) => takeLocks(tx, locksOf(records.map(({ scope }) => scope))),
};

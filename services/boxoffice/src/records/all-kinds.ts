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
import { reusableMedium } from "./reusable-medium.ts";
import { revokedSecret } from "./revoked-secret.ts";
import { salesChannel } from "./sales-channel.ts";
import { seat } from "./seat.ts";
import { subevent } from "./subevent.ts";
import { taxRule } from "./tax-rule.ts";

/** What a kind makes of its records stays with that kind: nobody else looks into it. */
export type AnyKind = RecordKind<unknown>;

/** Every kind of record that this version takes. */
export const kinds: ReadonlyMap<string, AnyKind> = new Map(
  Object.entries<AnyKind>({
    organizer,
    sales_channel: salesChannel,
    api_key: apiKey,
    device,
    gate,
    event,
    event_settings: eventSettings,
    subevent,
    tax_rule: taxRule,
    category,
    item,
    question,
    seat,
    quota,
    order,
    revoked_secret: revokedSecret,
    blocked_secret: blockedSecret,
    reusable_medium: reusableMedium,
  }),
);

/** Kinds that the format has and this version does not take. */
export const laterKinds: ReadonlySet<string> = new Set([
  "voucher",
  "ticket_layout",
  "ticket_layout_item",
  "checkin_list",
]);

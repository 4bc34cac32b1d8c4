import type { JsonSchema, Properties } from "@tessera/schema/schema";
import { checkinListRecord } from "../checkin-list.ts";
import { layoutAssignmentRecord, ticketLayoutRecord } from "../ticket-layout.ts";
import { voucherRecord } from "../voucher.ts";
import { apiKeyRecord } from "./api-key.ts";
import { categoryRecord } from "./category.ts";
import { deviceRecord } from "./device.ts";
import { eventRecord, eventSettingsRecord } from "./event.ts";
import { gateRecord } from "./gate.ts";
import { itemRecord } from "./item.ts";
import { orderRecord } from "./order.ts";
import { organizerRecord } from "./organizer.ts";
import { questionRecord } from "./question.ts";
import { quotaRecord } from "./quota.ts";
import { reusableMediumRecord } from "./reusable-medium.ts";
import { salesChannelRecord } from "./sales-channel.ts";
import { seatRecord } from "./seat.ts";
import { blockedSecretRecord, revokedSecretRecord } from "./secrets.ts";
import { subeventRecord } from "./subevent.ts";
import { taxRuleRecord } from "./tax-rule.ts";

/** What `data` of a record of each kind may be. */
export const recordSchemas = {
  organizer: organizerRecord,
  sales_channel: salesChannelRecord,
  api_key: apiKeyRecord,
  gate: gateRecord,
  device: deviceRecord,
  event: eventRecord,
  event_settings: eventSettingsRecord,
  subevent: subeventRecord,
  tax_rule: taxRuleRecord,
  category: categoryRecord,
  item: itemRecord,
  question: questionRecord,
  seat: seatRecord,
  quota: quotaRecord,
  order: orderRecord,
  revoked_secret: revokedSecretRecord,
  blocked_secret: blockedSecretRecord,
  reusable_medium: reusableMediumRecord,
  checkin_list: checkinListRecord,
  voucher: voucherRecord,
  ticket_layout: ticketLayoutRecord,
  ticket_layout_item: layoutAssignmentRecord,
} as const satisfies Readonly<Record<string, JsonSchema & { readonly properties: Properties }>>;

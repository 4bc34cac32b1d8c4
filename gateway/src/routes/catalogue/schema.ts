import { categoryRecord } from "@tessera/resources/records/category";
import { eventRecord, eventSettingsRecord } from "@tessera/resources/records/event";
import { gateRecord } from "@tessera/resources/records/gate";
import { itemRecord } from "@tessera/resources/records/item";
import { questionRecord } from "@tessera/resources/records/question";
import { quotaRecord } from "@tessera/resources/records/quota";
import { reusableMediumRecord } from "@tessera/resources/records/reusable-medium";
import { blockedSecretRecord, revokedSecretRecord } from "@tessera/resources/records/secrets";
import { subeventRecord } from "@tessera/resources/records/subevent";
import { arrayOf, boolean, id, integer, mapOf, object, plain, text } from "@tessera/schema/build";
import { record } from "../../http/answers.ts";

/** The record of an event, with fields that follow from its address. */
export const event = record("Event", {
  ...eventRecord.properties,
  timezone: text({ description: "IANA name: its own, else that of its settings, else UTC." }),
  valid_keys: mapOf(arrayOf(text()), { description: "Public keys of signed tickets, by how these are signed." }),
  best_availability_state: plain(["integer", "null"], { description: "Not known here." }),
});

export const settings = record("EventSettings", eventSettingsRecord.properties);

export const subevent = record("Subevent", {
  ...subeventRecord.properties,
  event: text({ description: "The slug of its event." }),
});

export const category = record("Category", categoryRecord.properties);

export const item = record("EventItem", {
  ...itemRecord.properties,
  sales_channels: arrayOf(text(), { description: "`limit_sales_channels`; `web` where it is sold through all." }),
});

export const question = record("EventQuestion", questionRecord.properties);

export const revokedSecret = record("RevokedSecret", revokedSecretRecord.properties);

export const blockedSecret = record("BlockedSecret", blockedSecretRecord.properties);

export const medium = record("ReusableMedium", {
  ...reusableMediumRecord.properties,
  linked_orderposition: id({ nullable: true, description: "The first of `linked_orderpositions`." }),
  linked_orderpositions: arrayOf(id(), { description: "Ids of positions. Another event may have the same ids." }),
});

export const gate = record("Gate", gateRecord.properties);

export const quota = record(
  "EventQuota",
  {
    ...quotaRecord.properties,
    available: boolean({ description: "Something is left. Only with `with_availability`." }),
    available_number: integer({
      nullable: true,
      description: "How many are left; null: unlimited. Only with `with_availability`.",
    }),
  },
  { optional: ["available", "available_number"] },
);

export const availability = record("QuotaAvailability", {
  available: boolean({ description: "Something is left." }),
  available_number: integer({ nullable: true, description: "How many are left; null: unlimited." }),
  total_size: integer({ nullable: true, description: "The size of the quota; null: unlimited." }),
  pending_orders: integer({ description: "Tickets of orders that are not paid yet." }),
  paid_orders: integer({ description: "Tickets of paid orders." }),
  exited_orders: integer({ description: "0: a ticket that was scanned at an exit counts as any other." }),
  cart_positions: integer({ description: "0: carts are in the shop." }),
  blocking_vouchers: integer({ description: "What vouchers keep for their uses." }),
  waiting_list: integer({ description: "0: the waiting list is in the shop." }),
});

/** Badges are printed elsewhere. */
export const badge = object({}, { required: [] });

import type { Tx } from "@tessera/kit/pg/database";
import { type Asked, writeStatements } from "@tessera/testkit/write-statements";
import { expect, it } from "vitest";
import type { SearchPlan } from "../domain/search-text.ts";
import { findEvent, lockEvents } from "./events.ts";
import { findGoneEvents } from "./gone-events.ts";
import { readGuestComments } from "./guest-comments.ts";
import { findNaming, noteLostItems, noteLostVariations } from "./lost-references.ts";
import { findShopCatalogue } from "./read-catalogue.ts";
import { recountNext, recountVouchers } from "./recounted-vouchers.ts";
import { lockReservation } from "./reservations.ts";
import { searchVouchers } from "./search-vouchers.ts";
import { findShopVouchers } from "./shop-vouchers.ts";
import { lockVouchers } from "./stored-vouchers.ts";
import { takenRows } from "./taken-rows.ts";
import { readUses } from "./uses.ts";
import type { VoucherFilter } from "./voucher-filter.ts";
import { countVouchers, pageVouchers } from "./voucher-pages.ts";

const all: VoucherFilter = { organizer: "org", event: "fest" };
const some = { ...all, active: false };
const key = { ...all, id: 1 };
const position = { ...all, position: 1 };
const plan: SearchPlan = { patterns: ["%a-b%"], loosely: ["%a_b%"], isIndexed: true, hasLineBreak: false };
const reservation = "00000000-0000-4000-8000-000000000000";
const page = { limit: 50, offset: 0, count: 30_000 };
const cut = (...ordering: string[]) => ({ ...page, ordering });
const catalogue = { isSeries: false, currency: "EUR", items: [], dates: [], quotas: [] };
const few = { ordering: [], ...page, count: 100 };

const statements: Readonly<Record<string, readonly Asked<Tx>[]>> = {
  events: [
    ["findEvent", (db) => findEvent(db, all)],
    ["lockEvents", (tx) => lockEvents(tx, [all])],
  ],
  "gone-events": [["findGoneEvents", (db) => findGoneEvents(db)]],
  "guest-comments": [["readGuestComments", (db) => readGuestComments(db, all, { after: 0, limit: 100 })]],
  "lost-references": [
    ["noteLostItems, of keys", (tx) => noteLostItems(tx, { keys: [key] })],
    ["noteLostItems, older ones", (tx) => noteLostItems(tx, { olderThan: 1 })],
    ["noteLostVariations", (tx) => noteLostVariations(tx, [{ ...key, revision: 1, variations: [] }])],
    ["findNaming, an item", (db) => findNaming(db, { ...key, kind: "item" }, { limit: 100 })],
    ["findNaming, a variation", (db) => findNaming(db, { ...key, kind: "variation" }, { limit: 100 })],
    ["findNaming, a quota", (db) => findNaming(db, { ...key, kind: "quota" }, { limit: 100 })],
  ],
  "read-catalogue": [
    ["findShopCatalogue", (db) => findShopCatalogue(db, all, { products: [], quotas: [] }), catalogue],
  ],
  reservations: [["lockReservation", (tx) => lockReservation(tx, { ...all, reservation })]],
  "search-vouchers": [
    ["searchVouchers, all of them", (db) => searchVouchers(db, all, plan), { count: 100 }],
    ["searchVouchers, many vouchers", (db) => searchVouchers(db, some, plan), { count: 30_000 }],
    [
      "searchVouchers, across fields",
      (db) => {
        const patterns = ["%a\nb%", "%A\nB%"];
        return searchVouchers(db, some, { patterns, loosely: patterns, isIndexed: false, hasLineBreak: true });
      },
    ],
  ],
  "shop-vouchers": [
    ["findShopVouchers", (db) => findShopVouchers(db, all, { codes: ["A"], seats: [] })],
    ["findShopVouchers, also of seats", (db) => findShopVouchers(db, all, { codes: ["A"], seats: ["A-1"] })],
  ],
  "taken-rows": [["takenRows", (db) => db.many(takenRows)]],
  uses: [["readUses", (db) => readUses(db, [position])]],
  "voucher-filter": [
    ["countVouchers, active", (db) => countVouchers(db, { ...all, active: true }), { count: 100 }],
    [
      "countVouchers, active ones of an item",
      (db) => countVouchers(db, { ...all, active: true, item: 1, variation: 2 }),
    ],
    ["countVouchers, of a code", (db) => countVouchers(db, { ...all, code: "a", maxUsages: 1, redeemed: 0 })],
    [
      "countVouchers, with a tag",
      (db) => countVouchers(db, { ...all, tag: "a", subevent: 1, quota: 2, blockQuota: true }),
    ],
    [
      "countVouchers, of a price",
      (db) => countVouchers(db, { ...all, priceMode: "set", value: "1", allowIgnoreQuota: false }),
    ],
    ["countVouchers, of another price", (db) => countVouchers(db, { ...all, priceMode: "percent", ids: [1] })],
  ],
  "voucher-pages": [
    ["pageVouchers", (db) => pageVouchers(db, all, cut())],
    ["pageVouchers, from the end", (db) => pageVouchers(db, all, { ...cut(), offset: 29_950 })],
    ["pageVouchers, by code", (db) => pageVouchers(db, all, cut("code"))],
    ["pageVouchers, by usages", (db) => pageVouchers(db, all, cut("-max_usages"))],
    ["pageVouchers, by end", (db) => pageVouchers(db, all, cut("valid_until"))],
    ["pageVouchers, by value and code", (db) => pageVouchers(db, all, cut("-value", "code"))],
    ["pageVouchers, few vouchers", (db) => pageVouchers(db, some, few)],
  ],
  "recounted-vouchers": [
    ["recountVouchers", (db) => recountVouchers(db, [key])],
    ["recountNext", (db) => recountNext(db, { after: key, limit: 100 })],
  ],
  "stored-vouchers": [["lockVouchers", (tx) => lockVouchers(tx, [key])]],
};

it.each(Object.entries(statements))("%s asks for its reviewed statements", async (file, asked) => {
  await expect(await writeStatements(asked)).toMatchFileSnapshot(`statements/${file}.sql`);
});

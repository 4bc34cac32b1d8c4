import { createHash } from "node:crypto";
import { Pack, type PackedPresence, type PackedTicket, PackWriter } from "@tessera/values";
import { describe, expect, it } from "vitest";
import { arrivedScan, noon, readers } from "../testing/decisions.ts";
import { decideFromCopy } from "./decide-from-copy.ts";
import { EventCopy, type OwnScan } from "./event-copy.ts";
import type { FeedData, FeedLine } from "./feed-line.ts";

const hash = (code: string) => createHash("sha256").update(code).digest().subarray(0, 8);
const hexOf = (code: string) => hash(code).toString("hex");
const device = 4;
const noonText = "2026-11-21T12:00:00Z";

const event = {
  ...{ timezone: "Europe/Berlin", locale: "en", reusable_media_usage_enforced: false },
  ...{ date_from: null, date_to: null, date_admission: null },
};
const list = {
  ...{ name: "Gate", all_products: true, limit_products: [], subevent: null, include_pending: false, rules: {} },
  ...{ allow_multiple_entries: false, allow_entry_after_exit: false, addon_match: true },
};
const ticket: Omit<FeedData["ticket"], "code"> = {
  ...{
    item: 10,
    variation: null,
    subevent: null,
    addon_to: null,
    order_status: "paid" as const,
    valid_if_pending: false,
  },
  ...{ require_approval: false, canceled: false, blocked: false, valid_from: null, valid_until: null },
  ...{ locale: "en", require_attention: false, answered: [] },
};
const packed = (id: number, changes: Partial<PackedTicket> = {}): PackedTicket => ({
  ...{ hash: hash(`t${id}`), id, item: 10, variation: null, subevent: null, status: "paid", validIfPending: false },
  ...{ requireApproval: false, canceled: false, blocked: false, requireAttention: false, validFrom: null },
  ...{ validUntil: null, locale: "en", addonTo: null, answered: [] },
  ...changes,
});

type Held = Omit<PackedPresence, "ticket">;

function pack(rows: readonly (readonly [PackedTicket, ...Held[]])[]): Pack {
  const writer = new PackWriter();
  for (const [each, ...held] of rows) writer.add(each, held);
  const entities: FeedLine[] = [
    { kind: "event", id: 0, data: event },
    { kind: "list", id: 1, data: list },
  ];
  return new Pack(new Uint8Array(Buffer.concat([...writer.parts({ event: "sampleconf", entities })])));
}

const copyOf = (...rows: readonly (readonly [PackedTicket, ...Held[]])[]) => new EventCopy([pack(rows)], hash);
const entryAt = (at: number): Held => ({ list: 1, entries: 1, scans: [{ type: "entry", at: at / 1000 }] });
const presenceLine = (id: number, by: number | null, datetime = noonText): FeedLine => ({
  ...{ kind: "presence", id, list: 1 },
  data: { entries: 1, scans: [{ type: "entry", datetime, gate: null, device: by }] },
});

function inWord(
  copy: EventCopy,
  code: string,
  { own = [], ...how }: { own?: OwnScan[]; nonce?: string; at?: number } = {},
) {
  const scan = arrivedScan({ code, deviceId: device, nonce: "n", ...how });
  const verdict = decideFromCopy(copy, scan, { readers, own });
  return verdict?.outcome === "refused" ? verdict.reason : verdict?.outcome;
}

describe("a scan of the device itself", () => {
  const own: OwnScan = { ticket: 1, list: 1, nonce: "before", type: "entry", at: noon - 60_000_000 };
  const told = presenceLine(1, device, "2026-11-21T11:59:00Z");

  it("[F4.10] counts before the feed tells of it, and once when it does", () => {
    const copy = copyOf([packed(1)]);
    expect(inWord(copy, "t1")).toBe("admitted");
    expect(inWord(copy, "t1", { own: [own] })).toBe("already_redeemed");
    copy.apply(told);
    copy.apply({
      kind: "list",
      id: 1,
      data: { ...list, rules: { "<": [{ var: "entries_number" }, 2] }, allow_multiple_entries: true },
    });
    expect(inWord(copy, "t1", { own: [own] })).toBe("admitted");
    expect(inWord(copy, "t1", { own: [own, { ...own, at: noon - 1000 }] })).toBe("rules");
  });

  it("[F4.10] counts for its ticket and list alone", () => {
    const copy = copyOf([packed(1)], [packed(2)]);
    expect(inWord(copy, "t2", { own: [own] })).toBe("admitted");
    expect(inWord(copy, "t1", { own: [{ ...own, list: 2 }] })).toBe("admitted");
  });

  it("[F4.10] is admitted again by its nonce, and by its moment where its answer was lost", () => {
    const copy = copyOf([packed(1)]);
    expect(inWord(copy, "t1", { own: [own], nonce: "before" })).toBe("repeated");
    copy.apply(presenceLine(1, device));
    expect(inWord(copy, "t1", { at: noon })).toBe("repeated");
    expect(inWord(copy, "t1", { at: noon + 1000 })).toBe("already_redeemed");
    copy.apply(presenceLine(1, device + 1));
    expect(inWord(copy, "t1", { at: noon })).toBe("already_redeemed");
    expect(inWord(copyOf([packed(1), entryAt(noon)]), "t1", { at: noon })).toBe("repeated");
  });
});

describe("lines of the feed", () => {
  it("[F4.9] replace what a pack has: tickets, codes, presences", () => {
    const copy = copyOf([packed(1), entryAt(noon - 1000)], [packed(2, { addonTo: 1, item: 11 })]);
    expect(inWord(copy, "t1")).toBe("ambiguous");
    copy.apply({ kind: "ticket", id: 2, deleted: true });
    expect(inWord(copy, "t1")).toBe("already_redeemed");
    copy.apply({ kind: "presence", id: 1, list: 1, deleted: true });
    expect(inWord(copy, "t1")).toBe("admitted");
    copy.apply({ kind: "ticket", id: 1, data: { ...ticket, code: hexOf("new") } });
    expect([inWord(copy, "t1"), inWord(copy, "new")]).toEqual(["unknown_ticket", "admitted"]);
    copy.apply({ kind: "blocked", id: 5, data: { code: hexOf("new"), blocked: true } });
    expect(inWord(copy, "new")).toBe("blocked");
    copy.apply({ kind: "blocked", id: 5, deleted: true });
    copy.apply({ kind: "ticket", id: 1, deleted: true });
    expect(inWord(copy, "new")).toBe("unknown_ticket");
    copy.apply({ kind: "ticket", id: 1, data: { ...ticket, code: hexOf("t1") } });
    expect(inWord(copy, "t1")).toBe("admitted");
  });

  it("[C10.8] bring limits of lists, which are not judged", () => {
    const copy = copyOf([packed(1)], [packed(2), entryAt(noon - 1000)]);
    const limited = { ...list, soft_limit: 1, hard_limit: 1, takes_from: [] };
    copy.apply({ kind: "list", id: 1, data: limited });
    expect(inWord(copy, "t1")).toBe("admitted");
  });

  it("[F4.9] end an event and a list: then nothing is decided", () => {
    const copy = copyOf([packed(1)]);
    copy.apply({ kind: "list", id: 1, deleted: true });
    expect(inWord(copy, "t1")).toBeUndefined();
    copy.apply({ kind: "list", id: 1, data: list });
    copy.apply({ kind: "event", id: 0, deleted: true });
    expect(inWord(copy, "t1")).toBeUndefined();
    copy.apply({ kind: "event", id: 0, data: event });
    expect(inWord(copy, "t1")).toBe("admitted");
  });
});

it("[F4.9] tickets of several packs are found in each, and add-ons by a main ticket in another", () => {
  const copy = new EventCopy(
    [pack([[packed(1, { item: 20 })]]), pack([[packed(2, { addonTo: 1 }), entryAt(noon - 1000)]])],
    hash,
  );
  copy.apply({ kind: "list", id: 1, data: { ...list, all_products: false, limit_products: [10] } });
  expect(inWord(copy, "t1")).toBe("already_redeemed");
});

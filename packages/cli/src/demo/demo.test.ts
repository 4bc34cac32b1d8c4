import { findLayoutProblem } from "@tessera/resources/ticket-layout";
import { describe, expect, it } from "vitest";
import { demo, demoPositions, demoRecords, firstSecret } from "./demo.ts";

interface DemoRecord {
  readonly kind: string;
  readonly event?: string;
  // biome-ignore lint/suspicious/noExplicitAny: records of every kind
  readonly data: any;
}

const keys = { apiKey: "a", deviceKey: "d" };
const records = [...demoRecords(keys)] as DemoRecord[];
const orders = records.filter(({ kind }) => kind === "order");
const positions = orders.flatMap(({ event, data }) =>
  data.positions.map((position: object) => ({ event, status: data.status, ...position })),
);

describe("the demo", () => {
  it("is the same every time", () => {
    expect(JSON.stringify([...demoRecords(keys)])).toBe(JSON.stringify(records));
  });

  it("has as many tickets as it says, each with a secret and an id of its own", () => {
    expect(positions).toHaveLength(demoPositions);
    expect(new Set(positions.map(({ secret }) => secret)).size).toBe(demoPositions);
    expect(new Set(positions.map(({ event, id }) => `${event} ${id}`)).size).toBe(demoPositions);
    expect(new Set(orders.map(({ event, data }) => `${event} ${data.code}`)).size).toBe(orders.length);
    expect(positions.some(({ secret }) => secret === firstSecret)).toBe(true);
  });

  it("sells no more than its quotas hold", () => {
    for (const { event, data: quota } of records.filter(({ kind }) => kind === "quota")) {
      const sold = positions.filter(
        (position) =>
          position.event === event &&
          (position.subevent ?? null) === (quota.subevent ?? null) &&
          (position.variation === null
            ? quota.items.includes(position.item)
            : quota.variations.includes(position.variation)),
      );
      expect(sold.length, quota.name).toBeGreaterThan(0);
      expect(sold.length, quota.name).toBeLessThanOrEqual(quota.size);
    }
  });

  it("asks questions for items that it sells, and none at the list of the curl lines", () => {
    const questions = records.filter(({ kind }) => kind === "question");
    expect(new Set(questions.map(({ data }) => data.type))).toEqual(new Set(["B", "C", "N"]));
    expect(new Set(questions.map(({ data }) => data.required))).toEqual(new Set([true, false]));
    for (const { event, data } of questions) {
      expect(data.ask_during_checkin).toBe(true);
      for (const item of data.items)
        expect(positions.some((sold) => sold.event === event && sold.item === item)).toBe(true);
    }
    const list = records.at(-1);
    expect(list).toMatchObject({ kind: "checkin_list", event: demo.event, data: { id: demo.list } });
    expect(list?.data.rules).toBeUndefined();
    const asked = questions.filter(({ event }) => event === demo.event).flatMap(({ data }) => data.items);
    expect(list?.data.limit_products.filter((item: number) => asked.includes(item))).toEqual([]);
  });

  it("has lists with rules, with re-entry and with an exit at night, whose products and gates exist", () => {
    const lists = records.filter(({ kind }) => kind === "checkin_list");
    const has = (kind: string, id: number, event?: string) =>
      records.some((record) => record.kind === kind && record.event === event && record.data.id === id);
    for (const { event, data } of lists)
      for (const item of data.limit_products ?? []) expect(has("item", item, event)).toBe(true);
    const named = lists.flatMap(({ event, data }) =>
      [...JSON.stringify(data.rules ?? {}).matchAll(/"lookup":\["(product|gate)","(\d+)"/g)].map(([, model, id]) =>
        model === "gate" ? has("gate", Number(id)) : has("item", Number(id), event),
      ),
    );
    expect(named).toEqual([true, true]);
    expect(lists.filter(({ data }) => data.rules !== undefined)).toHaveLength(2);
    expect(lists.some(({ data }) => data.allow_entry_after_exit === true)).toBe(true);
    expect(lists.some(({ data }) => data.allow_entry_after_exit === false)).toBe(true);
    expect(lists.some(({ data }) => data.exit_all_at !== undefined)).toBe(true);
  });

  it("has a layout for the tickets of each event, whose words are in both languages and whose elements are on the page", () => {
    const layouts = records.filter(({ kind, data }) => kind === "ticket_layout" && data.default);
    expect(layouts.map(({ event }) => event)).toEqual(["festival", "conference"]);
    for (const { event, data } of layouts) {
      expect(findLayoutProblem(JSON.stringify(data.layout))).toBeUndefined();
      const pdf = Buffer.from(data.background.replace("data:application/pdf;base64,", ""), "base64");
      expect(pdf.length).toBeLessThan(100_000);
      const [, width = 0, height = 0] = (/MediaBox\[0 0 ([\d.]+) ([\d.]+)\]/.exec(pdf.toString("latin1")) ?? []).map(
        (points) => (Number(points) / 72) * 25.4,
      );
      expect([Math.round(width), Math.round(height)]).toEqual(event === "festival" ? [80, 200] : [210, 297]);
      for (const element of data.layout) {
        expect(element.left).toBeGreaterThanOrEqual(0);
        expect(element.bottom).toBeGreaterThanOrEqual(0);
        expect(element.left + (element.width ?? element.size)).toBeLessThanOrEqual(width);
        expect(element.bottom + (element.height ?? element.size)).toBeLessThanOrEqual(height);
        if (element.content === "other_i18n") expect(Object.keys(element.text_i18n)).toEqual(["en", "de"]);
      }
      const assigned = records.filter((record) => record.kind === "ticket_layout_item" && record.event === event);
      for (const { data: assignment } of assigned) {
        expect(assignment.layout).toBe(data.id);
        expect(
          records.some((each) => each.kind === "item" && each.event === event && each.data.id === assignment.item),
        ).toBe(true);
      }
      expect(assigned.length).toBeGreaterThan(0);
    }
  });

  it("has a paid order for the ticket of the curl lines", () => {
    const [first] = positions.filter(({ event, id }) => event === demo.event && id === demo.position);
    expect(first).toMatchObject({ status: "p", secret: firstSecret });
  });
});

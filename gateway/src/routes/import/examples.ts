import type { Example } from "../../http/route.ts";

const event = { organizer: "demo", event: "conference" };

const records = [
  { kind: "category", ...event, data: { id: 9, name: { en: "Day tickets" }, position: 9 } },
  {
    kind: "item",
    ...event,
    data: { id: 9, name: { en: "Day ticket" }, category: 9, default_price: "59.00", admission: true, active: true },
  },
];

export const importExample = {
  status: "ok",
  type: "application/x-ndjson",
  body: records.map((record) => `${JSON.stringify(record)}\n`).join(""),
  answer: {
    records: 2,
    accepted: 2,
    rejected: 0,
    kinds: { category: 1, item: 1 },
    errors: [],
    warned: 0,
    warnings: [],
    settled: true,
    ignored: [],
    overbooked: [],
    ambiguous_secrets: [],
  },
} satisfies Example;

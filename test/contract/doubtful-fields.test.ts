import { globSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { isAddressedByEvent, type RecordKindName } from "@tessera/protos/record-kinds";
import { recordSchemas } from "@tessera/resources/records/all-records";
import { compileSchema, type JsonSchema } from "@tessera/schema/schema";
import { isObject } from "@tessera/values";
import { describe, expect, it } from "vitest";
import { exampleOf, listFields, type RecordField } from "./print-record-fields.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

type ReadRecord = (
  sent: object,
  unknownKeys: object,
) => Promise<
  | { readonly ok: true; readonly value: { readonly warnings: object; readonly value: unknown } }
  | { readonly ok: false; readonly errors: object }
>;

const packages: string = "../../packages/records/src";
const { compileRecordReader } = (await import(`${packages}/read-record.ts`)) as {
  compileRecordReader(kinds: Kinds): ReadRecord;
};
const { UnknownKeys } = (await import(`${packages}/unknown-keys.ts`)) as { UnknownKeys: new () => object };

type Kinds = readonly { readonly name: string }[];

const owners = await Promise.all(
  globSync("services/*/src/records/{all-kinds,record-owner}.ts", { cwd: root }).map(
    async (path) => (await import(join(root, path))) as { recordOwner: { readonly kinds: Kinds } },
  ),
);
const readers = new Map(
  owners.flatMap(({ recordOwner: { kinds } }) => {
    const read = compileRecordReader(kinds);
    return kinds.map(({ name }) => [name, read] as const);
  }),
);

type Data = Record<string, unknown>;

/** All that a kind may have, by the examples of its fields. */
function exampleOfAll(schema: JsonSchema): Data {
  const fields = (schema["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const { properties, items } = field;
      if (isObject(properties)) return [name, exampleOfAll(field)];
      if (isObject(items) && isObject(items["properties"])) return [name, [exampleOfAll(items)]];
      return [name, structuredClone(exampleOf(field) ?? field["default"])];
    }),
  );
}

function samplesOf(kind: RecordKindName): Data {
  const data = exampleOfAll(recordSchemas[kind]);
  if (kind === "order") (data["positions"] as [Data])[0]["addon_to"] = null;
  if (kind === "ticket_layout") data["background"] = null;
  return data;
}

async function read(kind: RecordKindName, data: Data) {
  const place = { organizer: "bigevents", event: isAddressedByEvent(kind) ? "sampleconf" : "" };
  const sent = { line: 1, kind, ...place, deleted: false, data: Buffer.from(JSON.stringify(data)) };
  const reader = readers.get(kind);
  if (reader === undefined) throw new Error(`no service reads ${kind}`);
  return reader(sent, new UnknownKeys());
}

/** The object that has the field, of a new copy of the sample, and the path of the field there. */
function placeOf(kind: RecordKindName, path: string): { data: Data; holder: Data; name: string; at: string } {
  const data = samplesOf(kind);
  const steps = path.split(".");
  const name = steps.pop() ?? "";
  let holder = data;
  let at = "";
  for (const step of steps) {
    const inner = holder[step];
    holder = (Array.isArray(inner) ? inner[0] : inner) as Data;
    at += Array.isArray(inner) ? `${step}.0.` : `${step}.`;
  }
  return { data, holder, name, at: at + name };
}

const strange = [
  null,
  "",
  "\0",
  "no-such-thing",
  "x".repeat(66_000),
  "2026-02-30",
  5.5,
  -1,
  2 ** 52,
  true,
  {},
  [],
  [[]],
  [{}],
  { a: [] },
  "8.87512345",
];

function wrongFor(field: JsonSchema): unknown[] {
  const check = compileSchema(field);
  return strange.filter((value) => !check(structuredClone(value)).ok);
}

/** The same without what its document says of unreadable fields, by which nothing but sales differ. */
function withoutNotes(value: unknown): unknown {
  if (!isObject(value) || typeof value["document"] !== "string") return value;
  const { unread: _, ...document } = JSON.parse(value["document"]) as Data;
  return { ...value, document };
}

function namesIt(names: object, at: string): boolean {
  return Object.keys(names).some((name) => name === at || name.startsWith(`${at}.`));
}

/** What they are where they cannot be read follows from other fields. */
const followsOthers = new Set(["checkin_list.all_products"]);

/** What is said of wrong values of a field that refuse the record, or that no warning names. */
async function findRefusals(kind: RecordKindName, { path, schema }: RecordField): Promise<string[]> {
  const found: string[] = [];
  for (const [index, wrong] of wrongFor(schema).entries()) {
    const { data, holder, name, at } = placeOf(kind, path);
    holder[name] = wrong;
    const taken = await read(kind, data);
    const what = `${kind}.${path}: ${JSON.stringify(wrong)?.slice(0, 40)}`;
    if (!taken.ok) found.push(`${what} refuses: ${JSON.stringify(taken.errors)}`);
    else if (!namesIt(taken.value.warnings, at)) found.push(`${what} is not named`);
    if (!taken.ok) continue;
    if (index > 0 || schema["read"] === undefined || followsOthers.has(`${kind}.${path}`)) continue;
    const without = placeOf(kind, path);
    if (schema["unread"] === undefined || wrong === null) delete without.holder[without.name];
    else without.holder[without.name] = schema["unread"];
    const other = await read(kind, without.data);
    expect(withoutNotes(taken.value.value), what).toEqual(other.ok && withoutNotes(other.value.value));
  }
  return found;
}

/** Wrong values of a field that refuse no record. Of a wrong list each wrong element is left out, and null is none. */
async function findTaken(kind: RecordKindName, { path, schema }: RecordField): Promise<string[]> {
  const found: string[] = [];
  for (const wrong of wrongFor(schema)) {
    if (Array.isArray(wrong) || wrong === null) continue;
    const { data, holder, name, at } = placeOf(kind, path);
    holder[name] = wrong;
    const refused = await read(kind, data);
    if (refused.ok || !namesIt(refused.errors, at))
      found.push(`${kind}.${path}: ${JSON.stringify(wrong).slice(0, 40)}`);
  }
  return found;
}

describe.each(Object.keys(recordSchemas) as RecordKindName[])("[R2.17] a %s", (kind) => {
  const fields = listFields(recordSchemas[kind]);

  it("with all its fields is read without a word", async () => {
    expect(await read(kind, samplesOf(kind))).toMatchObject({ ok: true, value: { warnings: {} } });
  });

  it("is taken without any wrong field but those that say whom it admits, where and when, and the field is named", async () => {
    const others = fields.filter(({ whenWrong }) => whenWrong === "left out");
    expect((await Promise.all(others.map((field) => findRefusals(kind, field)))).flat()).toEqual([]);
  });

  it("is refused for each of those", async () => {
    const needed = fields.filter(({ whenWrong }) => whenWrong === "refuses");
    expect((await Promise.all(needed.map((field) => findTaken(kind, field)))).flat()).toEqual([]);
  });
});

it("[R2.17] these refuse a record, and no other field", () => {
  const refusing = Object.entries(recordSchemas).flatMap(([kind, schema]) =>
    listFields(schema).flatMap(({ path, whenWrong }) => (whenWrong === "refuses" ? [`${kind}.${path}`] : [])),
  );
  expect(refusing).toEqual([
    "organizer.slug",
    "sales_channel.identifier",
    "api_key.token",
    "api_key.active",
    "gate.id",
    "device.token",
    "device.device_id",
    "device.revoked",
    "event.slug",
    "event.date_from",
    "event.has_subevents",
    "subevent.id",
    "subevent.date_from",
    "tax_rule.id",
    "category.id",
    "item.id",
    "question.id",
    "seat.id",
    "seat.seat_guid",
    "seat.subevent",
    "quota.id",
    "quota.size",
    "quota.closed",
    "order.code",
    "order.status",
    "order.positions",
    "revoked_secret.id",
    "revoked_secret.secret",
    "blocked_secret.id",
    "blocked_secret.secret",
    "reusable_medium.id",
    "reusable_medium.type",
    "reusable_medium.identifier",
    "reusable_medium.active",
    "reusable_medium.expires",
    "checkin_list.id",
    "checkin_list.limit_products",
    "checkin_list.subevent",
    "checkin_list.rules",
    "voucher.id",
    "voucher.code",
    "voucher.max_usages",
    "voucher.valid_until",
    "voucher.price_mode",
    "voucher.value",
    "voucher.item",
    "voucher.variation",
    "voucher.quota",
    "voucher.subevent",
    "voucher.budget",
    "voucher.redeemed",
    "voucher.budget_used",
    "voucher.as_of",
    "ticket_layout.id",
    "ticket_layout_item.id",
    "ticket_layout_item.layout",
    "ticket_layout_item.item",
  ]);
});

it("[R2.17] the largest order is taken where something is wrong with each of its positions", async () => {
  const [sold] = samplesOf("order")["positions"] as [Data];
  const positions = Array.from({ length: 5000 }, (_, index) => ({ ...sold, id: index + 1, price: "free" }));
  const taken = await read("order", { ...samplesOf("order"), positions });
  if (!taken.ok) throw new Error(JSON.stringify(taken.errors).slice(0, 200));
  expect(Object.keys(taken.value.warnings)).toEqual(positions.map((_, index) => `positions.${index}.price`));
});

/** Null where it means nothing else than no, or none. */
const nulls = [
  "device.revoked",
  "event.has_subevents",
  "quota.closed",
  "order.positions.canceled",
  "checkin_list.limit_products",
  "checkin_list.rules",
  "voucher.redeemed",
  "voucher.budget_used",
];

it("[R2.20] null is taken for no or none, with a warning, and for nothing that would mean more", async () => {
  const taken: string[] = [];
  for (const [name, schema] of Object.entries(recordSchemas)) {
    const kind = name as RecordKindName;
    for (const { path, schema: field, whenWrong } of listFields(schema)) {
      if (whenWrong === "left out" || field["default"] === undefined || compileSchema(field)(null).ok) continue;
      const { data, holder, name: last, at } = placeOf(kind, path);
      holder[last] = null;
      const found = await read(kind, data);
      if (!found.ok || !Object.hasOwn(found.value.warnings, at) || found.value.value === undefined) continue;
      delete holder[last];
      const without = await read(kind, data);
      if (without.ok && isDeepStrictEqual(withoutNotes(without.value.value), withoutNotes(found.value.value)))
        taken.push(`${kind}.${path}`);
    }
  }
  expect(taken.sort()).toEqual([...nulls].sort());
});

it("[R2.17] what would open more by its default is what opens less where it cannot be read, and null is the default", async () => {
  const dataOf = async (kind: RecordKindName, fields: Data) => {
    const taken = await read(kind, { ...samplesOf(kind), ...fields });
    if (!taken.ok) throw new Error(JSON.stringify(taken.errors));
    return (taken.value.value as { readonly data: Data }).data;
  };
  for (const wrong of ["perhaps", 7, [], {}]) {
    expect(await dataOf("order", { require_approval: wrong })).toMatchObject({ require_approval: true });
    expect(await dataOf("device", { security_profile: [wrong] })).toMatchObject({ security_profile: "pretixscan" });
  }
  expect(await dataOf("order", { require_approval: null })).toMatchObject({ require_approval: false });
  expect(await dataOf("device", { security_profile: null })).toMatchObject({ security_profile: "full" });
});

it("[R3.96] a list of which it cannot be read whether it covers all products covers those that it names, if any", async () => {
  const listOf = async (fields: Data) => {
    const taken = await read("checkin_list", { ...samplesOf("checkin_list"), ...fields });
    if (!taken.ok) throw new Error(JSON.stringify(taken.errors));
    return taken.value.value;
  };
  for (const wrong of [null, "perhaps", 7, {}]) {
    expect(await listOf({ all_products: wrong, limit_products: [1] })).toMatchObject({ allProducts: false });
    expect(await listOf({ all_products: wrong, limit_products: ["x"] })).toMatchObject({ allProducts: false });
    for (const none of [[], null]) {
      expect(await listOf({ all_products: wrong, limit_products: none })).toMatchObject({ allProducts: true });
    }
    expect(await listOf({ allow_entry_after_exit: wrong })).toMatchObject({ allowEntryAfterExit: true });
  }
});

it("[R2.20] an empty text is taken for no time", async () => {
  const [sold] = samplesOf("order")["positions"] as [Data];
  const taken = await read("order", {
    ...samplesOf("order"),
    positions: [{ ...sold, valid_from: "", valid_until: "" }],
  });
  expect(taken).toMatchObject({
    ok: true,
    value: { warnings: {}, value: { data: { positions: [{ valid_from: null, valid_until: null }] } } },
  });
});

it("[R2.17] an order is taken without its wrong parts, and with all others", async () => {
  const [sold] = samplesOf("order")["positions"] as [Data];
  const [scan] = sold["checkins"] as [Data];
  const parts = [
    {
      ...sold,
      id: 1,
      secret: "good",
      checkins: [{ ...scan, type: "sideways" }, scan],
      answers: [{ question: "x" }],
      blocked: null,
    },
    { ...sold, id: 2, secret: 5.5 },
    { ...sold, id: 3, valid_until: "soon" },
    { ...sold, id: 4, canceled: "perhaps" },
  ];
  const taken = await read("order", {
    ...samplesOf("order"),
    positions: parts,
    invoice_address: { country: "Germany", city: "Ulm" },
  });
  if (!taken.ok) throw new Error(JSON.stringify(taken.errors));
  expect(Object.keys(taken.value.warnings).sort()).toEqual([
    "invoice_address.country",
    "positions.0.answers.0.question",
    "positions.0.checkins.0.type",
    "positions.1.secret",
    "positions.2.valid_until",
    "positions.3.canceled",
  ]);
  expect(taken.value.value).toMatchObject({
    data: {
      positions: [{ id: 1, secret: "good", checkins: [{ type: "entry" }], answers: [] }],
      unread: new Set([2, 3, 4]),
      invoice_address: { country: "", city: "Ulm" },
    },
  });
});

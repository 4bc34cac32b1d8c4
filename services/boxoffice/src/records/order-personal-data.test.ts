import { readFile } from "node:fs/promises";
import { orderRecord } from "@tessera/resources/records/order";
import { expect, it } from "vitest";
import { orderPersonalData } from "./order-personal-data.ts";

interface Node {
  readonly type?: string | readonly string[];
  readonly read?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly additionalProperties?: unknown;
}

/** The paths of a document with free texts. */
function textsIn(node: Node, path: readonly string[] = []): string[] {
  const { type, read, properties, items, anyOf } = node;
  const below = [
    ...Object.entries(properties ?? {}).flatMap(([name, each]) => textsIn(each, [...path, name])),
    ...(items === undefined ? [] : textsIn(items, [...path, "*"])),
    ...(anyOf ?? []).flatMap((each) => textsIn(each, path)),
  ];
  const isOpen = properties === undefined && items === undefined && anyOf === undefined;
  const isText = [type].flat().includes("string") && node.enum === undefined && (read === "text" || read === undefined);
  const isAnything = isOpen && (type === undefined || [type].flat().includes("object"));
  return isText || isAnything ? [...new Set([path.join("."), ...below])] : below;
}

/**
 * Fields of an order's document that are or may be personal, and are kept: no shredder names them, no export has them,
 * and what was not exported is not erased (D3.13, D3.23).
 */
const keptOfOrders = [
  "comment",
  "checkin_text",
  "api_meta",
  "fees.*.description",
  "positions.*.country",
  "positions.*.state",
];

/** Codes, words of the platform, and data of money, seats and products. */
const notOfPeople = [
  ...["code", "secret", "locale", "sales_channel", "tax_rounding_mode", "custom_followup_at"],
  ...["fees.*.fee_type", "fees.*.internal_type", "fees.*.tax_code"],
  ...["tax_code", "secret", "blocked.*", "pseudonymization_id", "seat"].map((name) => `positions.*.${name}`),
];

it("[D3.22] every text in the document of an order is erased by a kind, kept, or not of people", () => {
  const texts = textsIn(orderRecord as Node);
  expect(texts).toEqual(expect.arrayContaining(["email", "comment", "api_meta", "positions.*.answers.*.answer"]));
  const erased = Object.values(orderPersonalData).flatMap((fields) => Object.keys(fields));
  const declared: readonly string[] = [...erased, ...keptOfOrders, ...notOfPeople];
  const isDeclared = (path: string) => declared.some((each) => path === each || path.startsWith(`${each}.`));
  expect(texts.filter((path) => !isDeclared(path))).toEqual([]);
});

it("[D3.22] the schema names every field of an order that is erased or kept", async () => {
  const schema = await readFile(new URL("../../schema.sql", import.meta.url), "utf8");
  const comment = /^comment on column "order"\.data is '(.*)';$/m.exec(schema)?.[1] ?? "";
  const fields = [...Object.values(orderPersonalData).flatMap((each) => Object.keys(each)), ...keptOfOrders];
  const names = fields.map((path) => path.split(".").at(-1) ?? "");
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(comment))).toEqual([]);
});

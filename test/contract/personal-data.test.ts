import { readFile } from "node:fs/promises";
import { loadServices } from "@tessera/cli/services";
import { catalogue, recordFeed, topics } from "@tessera/protos/topics";
import { isShredder } from "@tessera/values";
import { describe, expect, it } from "vitest";

/** What a comment in a schema says of a table or a column. */
interface Declared {
  /** `table` or `table.column`. */
  readonly name: string;
  readonly comment: string;
  readonly kinds: readonly string[];
}

const grammar = /^personal data: (\w+(?:, \w+)*)(?:; \S.*)?$/;

async function readDeclared(service: string): Promise<Declared[]> {
  const folder = service === "gateway" ? service : `services/${service}`;
  const schema = await readFile(new URL(`../../${folder}/schema.sql`, import.meta.url), "utf8");
  const comments = schema.matchAll(/^comment on (?:table|column) (\S+) is '(personal data.*)';$/gm);
  return [...comments].map(([, name = "", comment = ""]) => ({
    name: name.replaceAll('"', ""),
    comment,
    kinds: grammar.exec(comment)?.[1]?.split(", ") ?? [],
  }));
}

const tableOf = (name: string) => name.split(".")[0] ?? "";

/** A table stands for its columns, and the other way round where only one of the two is named. */
function isSame(holding: string, declared: string): boolean {
  if (holding === declared) return true;
  return tableOf(holding) === tableOf(declared) && (!holding.includes(".") || !declared.includes("."));
}

/** In every schema: what they hold goes by itself after some days, and kit erases it with the event as far as it can be told. */
const transient = ["answered_request.response", "dead_letter.payload", "outbox.payload", "work.payload", "work.result"];

/** Columns in which no person is named, for each service; a table alone stands for all of its columns. */
const notOfPeople: Readonly<Record<string, readonly string[]>> = {
  // Of kit: names of topics, consumers, kinds and states; causes name fields, and no values.
  all: [
    ...[
      "answered_request.rpc",
      "dead_letter",
      "erased_part",
      "erasure",
      "inbox",
      "migration",
      "outbox",
      "passed_marker",
    ],
    ...["rebuild", "work"],
  ],
  boxoffice: [
    // Catalogues of the organizer.
    ...[
      "category",
      "event",
      "gate",
      "item",
      "organizer",
      "question",
      "quota",
      "sales_channel",
      "seat",
      "subevent",
      "tax_rule",
    ],
    // Secrets and keys name no person by themselves.
    ...["blocked_secret", "revoked_secret", "credential"],
    ...["capacity_hold.answer", "taken_capacity.taken_as", "order.status", "sale.request_hash"],
    ...["position.earlier_checkins", "position.taken_as"],
  ],
  checkin: [
    ...["event", "item", "list", "question", "subevent", "cursor_key", "count_delta", "presence"],
    ...["position.order_status", "position.counted_as", "reusable_medium.linked_positions"],
    ...["scan.type", "scan.reason", "scan.nonce", "scan.source_type"],
  ],
  "layout-and-render": ["layout"],
  "offline-sales": ["batch.orders"],
  // The ledger of erasures names no person; versions are hashes.
  shredder: ["announced_erasure", "export", "retention", "shred_case", "signing_key"],
  voucher: [
    ...["event", "item", "subevent", "lost_reference", "voucher.price_mode", "voucher.seat"],
    // What carts ask of vouchers by their codes.
    "voucher_reservation",
  ],
  gateway: [
    ...["credential", "event", "kept_answer.caller", "kept_answer.key", "kept_answer.request_hash"],
    ...["kept_answer.headers", "kept_answer.organizer", "kept_answer.event"],
  ],
};

/** The columns of a schema in which any text can stand. Identifiers that other tables refer to are collated by their bytes. */
async function columnsWithText(service: string): Promise<string[]> {
  const folder = service === "gateway" ? service : `services/${service}`;
  const schema = await readFile(new URL(`../../${folder}/schema.sql`, import.meta.url), "utf8");
  const tables = [...schema.matchAll(/^create table (\S+) \(\n(.*?)^\)/gms)];
  expect(tables.length).toBeGreaterThan(5);
  return tables.flatMap(([, table = "", body = ""]) =>
    [...body.matchAll(/^ {2}"?(\w+)"? (?:text|jsonb|bytea)\b(.*)$/gm)]
      .filter(([, , rest = ""]) => !/collate "C"|generated always/.test(rest))
      .map(([, column = ""]) => `${table.replaceAll('"', "")}.${column}`),
  );
}

const services = await loadServices(["all"]);

describe.each(services.map(({ name, holdings = [] }) => [name, holdings] as const))(
  "what %s holds of people",
  (service, holdings) => {
    it("is declared in words that say who erases it", async () => {
      const declared = await readDeclared(service);
      expect(declared.map(({ name }) => name)).toEqual(expect.arrayContaining(transient));
      const unclear = declared.filter(
        ({ kinds }) => kinds.length === 0 || !kinds.every((kind) => kind === "kept" || isShredder(kind)),
      );
      expect(unclear.map(({ name, comment }) => `${name}: ${comment}`)).toEqual([]);
      for (const { name, kinds } of declared)
        if (transient.includes(name)) expect([name, kinds]).toEqual([name, ["kept"]]);
    });

    it("[D3.22] is declared, or known to be of no person, in each column in which a text can stand", async () => {
      const names = [...(await readDeclared(service)).map(({ name }) => name), ...(notOfPeople["all"] ?? [])];
      names.push(...(notOfPeople[service] ?? []));
      const columns = await columnsWithText(service);
      const isCovered = (column: string) => names.some((name) => name === column || name === tableOf(column));
      expect(columns.filter((column) => !isCovered(column))).toEqual([]);
    });

    it("[D3.1] has a holding of each kind that its schema declares", async () => {
      const missing = (await readDeclared(service)).flatMap(({ name, kinds }) =>
        kinds
          .filter((kind) => kind !== "kept")
          .filter((kind) => !holdings.some((holding) => holding.kind === kind && isSame(holding.name, name)))
          .map((kind) => `${name} ${kind}`),
      );
      expect(missing).toEqual([]);
    });

    it("[D3.1] is declared where it says that it holds something", async () => {
      const declared = await readDeclared(service);
      const undeclared = holdings
        .filter(({ name }) => !name.endsWith("/"))
        .filter(({ name, kind }) => !declared.some((each) => isSame(name, each.name) && each.kinds.includes(kind)));
      expect(undeclared.map(({ name, kind }) => `${name} ${kind}`)).toEqual([]);
      expect(holdings.filter(({ kind }) => !isShredder(kind))).toEqual([]);
    });

    it("is asked for where it holds some, or takes facts that carry it and may be parked", () => {
      const { consumes = [] } = services.find(({ name }) => name === service) ?? {};
      const carriers = catalogue.filter(
        ({ name, personalData }) =>
          consumes.includes(name) && Object.keys(personalData).some((kind) => kind !== "kept"),
      );
      const holdsSome = holdings.length > 0 || carriers.length > 0;
      expect(consumes.includes(topics.shredRequested.name)).toBe(holdsSome);
    });

    it("[D3.1] is erased by the owner of each topic that carries it", () => {
      const carried = catalogue
        .filter(({ owner }) => owner === service)
        .flatMap(({ personalData }) => Object.keys(personalData))
        .filter((kind) => kind !== "kept");
      expect(carried.filter((kind) => !holdings.some((holding) => holding.kind === kind))).toEqual([]);
    });
  },
);

/** Strings of facts that name no person: codes, words of the platform, seats and products. */
const notOfPeopleInFacts: Readonly<Record<string, readonly string[]>> = {
  [topics.positionChanged.name]: [
    ...[
      "organizer",
      "event",
      "position.price",
      "position.tax_rate",
      "position.tax_value",
      "position.voucher_budget_use",
    ],
    ...["position.secret", "position.pseudonymization_id", "position.seat", "position.blocked"],
    ...["position.order.code", "position.order.status", "position.order.locale"],
  ],
  [topics.answersGiven.name]: ["organizer", "event"],
  [topics.voucherChanged.name]: [
    ...["organizer", "event", "voucher.budget_used"],
    ...["code", "value", "price_mode", "tag", "seat", "budget"].map((name) => `voucher.fields.${name}`),
  ],
};

it.each(Object.entries(notOfPeopleInFacts))(
  "[D3.22] every text in the facts of %s is erased by a kind, kept, or not of people",
  async (name, others) => {
    const file = new URL(`../../protos/samples/${name}.json`, import.meta.url);
    const { fact } = JSON.parse(await readFile(file, "utf8")) as { fact: unknown };
    const texts = textsIn(fact, "");
    expect(texts.length).toBeGreaterThan(2);
    const { personalData = {} } = catalogue.find((topic) => topic.name === name) ?? {};
    const declared = [...Object.values(personalData).flat(), ...others];
    const isDeclared = (path: string) => declared.some((each) => path === each || path.startsWith(`${each}.`));
    expect(texts.filter((path) => !isDeclared(path))).toEqual([]);
  },
);

/** The paths of a sample, which has every field of its message, where a text stands. */
function textsIn(value: unknown, path: string): string[] {
  if (typeof value === "string") return Number.isNaN(Number(value)) ? [path] : [];
  if (Array.isArray(value)) return [...new Set(value.flatMap((each) => textsIn(each, path)))];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    const field = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return textsIn(each, path === "" ? field : `${path}.${field}`);
  });
}

it("[D10.2] is in the feed of records for three days", () => {
  expect(recordFeed.retention).toEqual({ kind: "days", days: 3 });
});

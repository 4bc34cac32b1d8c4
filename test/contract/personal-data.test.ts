import { readFile } from "node:fs/promises";
import { loadSync } from "@grpc/proto-loader";
import { loadServices } from "@tessera/cli/services";
import { catalogue, recordFeed, topics } from "@tessera/protos/topics";
import { isShredder } from "@tessera/values";
import { describe, expect, it } from "vitest";
import { filesOfFacts, messageOf, protos } from "./messages-of-facts.ts";

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

type Columns = Readonly<Record<string, readonly string[]>>;

/** Columns by their tables in which no person is named, in every schema: topics, consumers, kinds and states; causes name fields, and no values. */
const notOfPeopleAnywhere: Columns = {
  answered_request: ["rpc"],
  dead_letter: ["cause", "consumer", "headers", "key", "topic"],
  erased_part: ["holding", "kind"],
  erasure: ["kinds"],
  inbox: ["consumer"],
  migration: ["checksum", "name", "scope"],
  outbox: ["headers", "key", "topic", "traceparent"],
  passed_marker: ["consumer", "topic"],
  rebuild: ["cause", "place", "topic"],
  work: ["cause", "id", "kind", "owner", "state", "traceparent"],
};

/** The same for each service. */
const notOfPeople: Readonly<Record<string, Columns>> = {
  boxoffice: {
    // Catalogues of the organizer.
    category: ["data"],
    event: ["data", "settings", "slug"],
    gate: ["data"],
    item: ["data"],
    organizer: ["data", "slug"],
    question: ["data"],
    quota: ["data"],
    sales_channel: ["data", "identifier"],
    seat: ["data", "guid"],
    subevent: ["data"],
    tax_rule: ["data"],
    // Secrets, codes and keys name no person by themselves.
    blocked_secret: ["data"],
    credential: ["data", "id", "kind", "machine", "setup_hash", "token_hash"],
    reusable_medium: ["identifier", "type"],
    revoked_secret: ["data"],
    sold_ticket: ["order_code", "pseudonymization_id", "secret"],
    // What apps and printers are called.
    print: ["source", "type"],
    // Capacity and sales.
    capacity_hold: ["answer"],
    document_change: ["kind"],
    held_claim: ["seat"],
    order: ["code", "status"],
    position: ["earlier_checkins", "order_code", "secret", "taken_as"],
    sale: ["request_hash"],
    taken_capacity: ["taken_as"],
    voucher_claim: ["seat"],
  },
  checkin: {
    alarm: ["kind"],
    blocked_secret: ["secret"],
    change: ["kind"],
    change_mark: ["epoch"],
    code_key: ["key"],
    count_delta: ["counted_as"],
    device_queue: ["events"],
    event: ["locale", "name", "ticket_keys", "timezone"],
    item: ["checkin_text", "document", "internal_name", "media_policy", "media_type", "name", "variations"],
    list: ["name", "rules"],
    position: ["counted_as", "order_code", "order_status", "pseudonymization_id", "secret"],
    presence: ["last_type"],
    question: ["document"],
    reusable_medium: ["identifier", "linked_positions", "type"],
    revoked_secret: ["secret"],
    scan: ["nonce", "overruled", "reason", "source_type", "type"],
    subevent: ["document", "name"],
    voucher: ["code"],
  },
  "layout-and-render": {
    assignment: ["sales_channel"],
    file_to_remove: ["key"],
    layout: ["background", "background_sha256", "elements", "name"],
    sales_channel: ["identifier"],
  },
  "offline-sales": { batch: ["orders", "sales_channel"] },
  // The ledger of erasures names no person; versions are hashes.
  shredder: {
    announced_erasure: ["problem"],
    export: ["credential", "file_key", "instance", "kinds", "sha256", "versions"],
    file_to_remove: ["key"],
    retention: ["instance", "kinds", "round_after"],
    shred_case: ["credential", "export_sha256", "instance", "kinds", "parts", "problem", "requested_by"],
    signing_key: ["private_key"],
  },
  voucher: {
    event: ["document"],
    item: ["document"],
    lost_reference: ["kind"],
    subevent: ["prices"],
    voucher: ["code", "price_mode", "seat", "tag"],
    // What carts ask of vouchers by their codes.
    voucher_reservation: ["answer", "request", "state"],
  },
  gateway: {
    credential: ["device", "events", "id", "kind", "name", "permissions", "token_hash"],
    kept_answer: ["caller", "headers", "key", "request_hash"],
    // Names of fields, without the keys of maps.
    record_warning: ["field", "kind"],
    session: ["events", "link_hash", "permissions", "token_hash"],
  },
};

/** Slugs name an event in every table. */
const slugs = ["organizer", "event"];

const namesOf = (columns: Columns = {}) =>
  Object.entries(columns).flatMap(([table, names]) => names.map((name) => `${table}.${name}`));

/** The columns of a schema in which any text can stand. */
async function columnsWithText(service: string): Promise<string[]> {
  const folder = service === "gateway" ? service : `services/${service}`;
  const schema = await readFile(new URL(`../../${folder}/schema.sql`, import.meta.url), "utf8");
  const tables = [...schema.matchAll(/^create table (\S+) \(\n(.*?)^\)/gms)];
  expect(tables.length).toBeGreaterThan(5);
  return tables.flatMap(([, table = "", body = ""]) =>
    [...body.matchAll(/^ {2}"?(\w+)"? (?:text|varchar|character|citext|jsonb?|bytea|hstore|xml)\b/gm)]
      .filter(([, column = ""]) => !slugs.includes(column))
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
      const declared = (await readDeclared(service)).map(({ name }) => name);
      const others = [...namesOf(notOfPeopleAnywhere), ...namesOf(notOfPeople[service])];
      const columns = await columnsWithText(service);
      const isDeclared = (column: string) => declared.includes(column) || declared.includes(tableOf(column));
      expect(columns.filter((column) => !isDeclared(column) && !others.includes(column))).toEqual([]);
      expect(others.filter((column) => !columns.includes(column))).toEqual([]);
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

/** Texts of facts that name no person: codes, words of the platform, catalogues of the organizer, seats and money. */
const notOfPeopleInFacts: Readonly<Record<string, readonly string[]>> = {
  [topics.answersGiven.name]: [],
  [topics.blockedSecretChanged.name]: ["secret"],
  [topics.categoryChanged.name]: [],
  [topics.credentialChanged.name]: [
    ...["id", "token_hash", "name", "permissions", "events"],
    ...["device.gate.name", "device.security_profile", "device.software_brand"],
  ],
  [topics.eventChanged.name]: ["name", "timezone", "locale", "document", "ticket_keys"],
  [topics.itemChanged.name]: [
    ...["name", "internal_name", "checkin_text", "variations.value", "variations.checkin_text", "document"],
    ...["media_policy", "media_type"],
  ],
  [topics.positionChanged.name]: [
    ...["position.price", "position.tax_rate", "position.tax_value", "position.voucher_budget_use"],
    ...["position.secret", "position.pseudonymization_id", "position.seat", "position.blocked"],
    ...["position.order.code", "position.order.locale"],
  ],
  [topics.questionChanged.name]: ["document"],
  [topics.quotaChanged.name]: [],
  [topics.reusableMediumChanged.name]: ["type", "identifier", "linked_positions.event"],
  [topics.revokedSecretChanged.name]: ["secret"],
  [topics.salesChannelChanged.name]: ["identifier"],
  [topics.scanDecided.name]: ["reason", "overruled"],
  [topics.alarmChanged.name]: ["kind"],
  [topics.shredRequested.name]: ["case", "kinds"],
  [topics.subeventChanged.name]: ["name", "document"],
  [topics.voucherChanged.name]: [
    "voucher.budget_used",
    ...["code", "value", "price_mode", "tag", "seat", "budget"].map((name) => `voucher.fields.${name}`),
  ],
  [topics.voucherUseChanged.name]: ["budget_use"],
};

it.each(Object.values(topics).map((topic) => [topic.name, topic] as const))(
  "[D3.22] every text in the facts of %s is erased by a kind, kept, or not of people",
  (name, { personalData }) => {
    const texts = textsIn(messageOf(name));
    expect(texts).toContain("organizer");
    const declared = [...slugs, ...Object.values(personalData).flat(), ...(notOfPeopleInFacts[name] ?? [])];
    const isDeclared = (path: string) => declared.some((each) => path === each || path.startsWith(`${each}.`));
    expect(texts.filter((path) => !isDeclared(path))).toEqual([]);
  },
);

const definition = loadSync(filesOfFacts, { includeDirs: [protos], keepCase: true });

/** A message as its .proto file describes it. */
interface Described {
  readonly type: {
    readonly field: readonly { readonly name: string; readonly type: string; readonly typeName: string }[];
    /** Maps, for instance. */
    readonly nestedType: readonly { readonly name: string }[];
  };
}

/** The paths of a message, through the messages in it, where a text can stand. */
function textsIn(message: string, path: readonly string[] = []): string[] {
  const { field: fields, nestedType: nested } = (definition[message] as unknown as Described).type;
  return fields.flatMap(({ name, type, typeName }) => {
    const below = [...path, name];
    if (type !== "TYPE_MESSAGE") return ["TYPE_STRING", "TYPE_BYTES"].includes(type) ? [below.join(".")] : [];
    return nested.some((map) => map.name === typeName) ? [below.join(".")] : textsIn(resolve(message, typeName), below);
  });
}

/** The whole name of a message that another one names: the packages that they share may be left out. */
function resolve(message: string, name: string): string {
  const scopes = message.split(".").map((_, index, parts) => parts.slice(0, index).join("."));
  const found = scopes.toReversed().find((scope) => `${scope}.${name}` in definition);
  return found === undefined ? name : `${found}.${name}`;
}

it("[D10.2] is in the feed of records for three days", () => {
  expect(recordFeed.retention).toEqual({ kind: "days", days: 3 });
});

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { loadSync } from "@grpc/proto-loader";
import { topics } from "@tessera/protos/topics";
import { describe, expect, it } from "vitest";

interface Sample {
  readonly fact: Record<string, unknown>;
  readonly bytes: string;
}

const protos = fileURLToPath(new URL("../../protos/", import.meta.url));

/** The independent second reader: it knows the .proto files, and nothing of our generated code. */
const definition = loadSync(["ticketing/boxoffice/v1/facts.proto", "ticketing/checkin/v1/facts.proto"], {
  includeDirs: [protos],
  longs: Number,
  enums: String,
  defaults: true,
  arrays: true,
  objects: true,
  oneofs: false,
});

const messages: Readonly<Record<string, string>> = {
  "boxoffice.credential-changed.v1": "ticketing.boxoffice.v1.CredentialChanged",
  "boxoffice.event-changed.v1": "ticketing.boxoffice.v1.EventChanged",
  "boxoffice.subevent-changed.v1": "ticketing.boxoffice.v1.SubeventChanged",
  "boxoffice.category-changed.v1": "ticketing.boxoffice.v1.CategoryChanged",
  "boxoffice.item-changed.v1": "ticketing.boxoffice.v1.ItemChanged",
  "boxoffice.question-changed.v1": "ticketing.boxoffice.v1.QuestionChanged",
  "boxoffice.position-changed.v1": "ticketing.boxoffice.v1.PositionChanged",
  "boxoffice.revoked-secret-changed.v1": "ticketing.boxoffice.v1.RevokedSecretChanged",
  "boxoffice.blocked-secret-changed.v1": "ticketing.boxoffice.v1.BlockedSecretChanged",
  "boxoffice.reusable-medium-changed.v1": "ticketing.boxoffice.v1.ReusableMediumChanged",
  "checkin.scan-decided.v1": "ticketing.checkin.v1.ScanDecided",
  "checkin.answers-given.v1": "ticketing.checkin.v1.AnswersGiven",
};

interface Codec {
  serialize(value: object): Buffer;
  deserialize(bytes: Buffer): unknown;
}

async function sampleOf(topic: string): Promise<Sample> {
  return JSON.parse(await readFile(new URL(`../../protos/samples/${topic}.json`, import.meta.url), "utf8")) as Sample;
}

/** Both readers' views in one form: bytes as base64, nothing where nothing is set, enum values without their prefix. */
function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString("base64") };
  if (typeof value === "string") return value.replace(/^(CREDENTIAL_KIND|ORDER_STATUS|SCAN_TYPE)_/, "");
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(
    ([name, inner]) => inner !== undefined && inner !== null && !name.startsWith("_"),
  );
  return Object.fromEntries(entries.map(([name, inner]) => [name, comparable(inner)]).sort());
}

describe.each(Object.values(topics).map((topic) => [topic.name, topic] as const))("%s", (name, topic) => {
  it("still decodes the golden bytes, and encodes to them", async () => {
    const sample = await sampleOf(name);
    const fact = topic.decode(Buffer.from(sample.bytes, "base64"));
    expect(comparable(fact)).toEqual(comparable(sample.fact));
    expect(Buffer.from(topic.encode(fact as never)).toString("base64")).toBe(sample.bytes);
  });

  it("means the same to an independent reader of the .proto files", async () => {
    const sample = await sampleOf(name);
    const codec = definition[messages[name] ?? ""] as unknown as Codec;
    const read = codec.deserialize(Buffer.from(sample.bytes, "base64")) as object;
    expect(comparable(read)).toEqual(comparable(sample.fact));
    expect(comparable(topic.decode(codec.serialize(read)))).toEqual(comparable(sample.fact));
  });

  it("has an owner, a key that names its organizer, and personal data only where publishing the erased state erases it", async () => {
    expect(["boxoffice", "checkin", "gateway"]).toContain(topic.owner);
    expect(topic.name.startsWith(`${topic.owner}.`)).toBe(true);
    const sample = await sampleOf(name);
    expect(topic.key(topic.decode(Buffer.from(sample.bytes, "base64")) as never)).toMatch(/^bigevents\//);
    if (topic.personalData.length > 0) expect(topic.retention.kind).toBe("compacted");
  });
});

import { readFile } from "node:fs/promises";
import { loadSync } from "@grpc/proto-loader";
import { Voucher } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { topics } from "@tessera/protos/topics";
import { isShredder } from "@tessera/values";
import { describe, expect, it } from "vitest";
import { filesOfFacts, messageOf, protos } from "./messages-of-facts.ts";

interface Sample {
  readonly fact: Record<string, unknown>;
  readonly bytes: string;
}

/** The independent second reader: it reads the .proto files, not the generated code. */
const definition = loadSync(filesOfFacts, {
  includeDirs: [protos],
  longs: Number,
  enums: String,
  defaults: true,
  arrays: true,
  objects: true,
  oneofs: false,
});

interface Codec {
  serialize(value: object): Buffer;
  deserialize(bytes: Buffer): unknown;
}

/** A message as the independent reader describes it. */
interface Described {
  readonly type: { readonly field: readonly { readonly name: string; readonly typeName: string }[] };
}

/** Whether a path names a field of a message, through the messages in between. */
function hasField(message: string, [name = "", ...below]: readonly string[]): boolean {
  const described = definition[message] as unknown as Described | undefined;
  const read = name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const field = described?.type.field.find((each) => each.name === read);
  if (field === undefined || below.length === 0) return field !== undefined;
  return Object.keys(definition).some((each) => each.endsWith(field.typeName) && hasField(each, below));
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
    const codec = definition[messageOf(name)] as unknown as Codec;
    const read = codec.deserialize(Buffer.from(sample.bytes, "base64")) as object;
    expect(comparable(read)).toEqual(comparable(sample.fact));
    expect(comparable(topic.decode(codec.serialize(read)))).toEqual(comparable(sample.fact));
  });

  it("has an owner, a key that names its organizer, and personal data only where publishing the erased state erases it", async () => {
    expect(topic.name.split(".")[0]).toBe(topic.owner);
    const sample = await sampleOf(name);
    expect(topic.key(topic.decode(Buffer.from(sample.bytes, "base64")) as never)).toMatch(/^bigevents\//);
    const declared = Object.values(topic.personalData).flat();
    if (declared.length > 0) expect(topic.retention.kind).toBe("compacted");
    const unknown = declared.filter((path) => !hasField(messageOf(name), path.split(".")));
    expect(unknown, "declared as personal data").toEqual([]);
    expect(Object.keys(topic.personalData).filter((kind) => kind !== "kept" && !isShredder(kind))).toEqual([]);
  });
});

describe("numbers of 64 bits", () => {
  const codec = loadSync("ticketing/voucher/v1/vouchers.proto", { includeDirs: [protos], longs: String })[
    "ticketing.voucher.v1.Voucher"
  ] as unknown as Codec;
  const read = (createdAt: string) => Voucher.decode(codec.serialize({ createdAt }));

  it.each([
    ["the first second of the year 1", "-62135596800000000"],
    ["the last second of the year 9999", "253402300799000000"],
    ["the largest that all smaller ones are exact", "9007199254740991"],
  ])("are read and written where a number has their value: %s", (_, createdAt) => {
    const voucher = read(createdAt);
    expect(voucher.createdAt).toBe(Number(createdAt));
    const written = Voucher.encode(voucher).finish();
    expect(codec.deserialize(Buffer.from(written))).toMatchObject({ createdAt });
  });

  it.each(["9007199254740993", "-9007199254740993", "9223372036854775807"])(
    "are refused elsewhere: %s",
    (createdAt) => {
      expect(() => read(createdAt)).toThrow("No number has exactly this value");
    },
  );
});

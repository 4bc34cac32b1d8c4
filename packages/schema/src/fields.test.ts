import { describe, expect, expectTypeOf, it } from "vitest";
import { any, arrayOf, boolean, id, instant, object, text } from "./build.ts";
import { fields } from "./fields.ts";

interface Door {
  name: string;
  isOpen: boolean;
  rooms: number[];
  closesAt?: number | undefined;
  keptBy?: string | undefined;
  rules: string;
}

const zero: Door = { name: "", isOpen: false, rooms: [], closesAt: undefined, keptBy: undefined, rules: "" };
const codec = { decode: (): Door => ({ ...zero }) };

const { properties } = object({
  name: text(),
  is_open: boolean({ default: true }),
  rooms: arrayOf(id(), { default: [] }),
  closes_at: instant({ nullable: true, default: null }),
  kept_by: text({ nullable: true, default: null }),
  rules: any({ default: {} }),
});

const door = fields({ properties }, codec);

const message: Door = {
  name: "north",
  isOpen: true,
  rooms: [7],
  closesAt: 1_000_000,
  keptBy: undefined,
  rules: '{"a":1}',
};

describe("the fields of a resource", () => {
  it("become a message", () => {
    const body = { name: "north", is_open: true, rooms: [7], closes_at: 1_000_000, kept_by: null, rules: { a: 1 } };
    expect(door.toMessage(body)).toEqual(message);
  });

  it("have the zero value of the wire where a body leaves them out", () => {
    expect(door.toMessage({ rooms: [7] })).toStrictEqual({ ...zero, rooms: [7] });
    expect(door.namesIn({ rooms: [7], closes_at: null, other: 1 })).toEqual(["rooms", "closes_at"]);
  });

  it("are presented as the API shows them", () => {
    const shown = door.present(message);
    expect(shown).toStrictEqual({
      name: "north",
      is_open: true,
      rooms: [7],
      closes_at: "1970-01-01T00:00:01Z",
      kept_by: null,
      rules: { a: 1 },
    });
    expect(door.present(zero).rules).toEqual({});
    expectTypeOf(shown).toEqualTypeOf<{
      readonly name: string;
      readonly is_open: boolean;
      readonly rooms: number[];
      readonly closes_at: string | null;
      readonly kept_by: string | null;
      readonly rules: unknown;
    }>();
  });

  it("become values of the domain, and a message again", () => {
    const value = door.toDomain(message);
    expect(value).toStrictEqual({ ...message, keptBy: null });
    expect(door.fromDomain(value)).toStrictEqual(message);
    expectTypeOf(value).toEqualTypeOf<{
      readonly name: string;
      readonly isOpen: boolean;
      readonly rooms: readonly number[];
      readonly closesAt: number | null;
      readonly keptBy: string | null;
      readonly rules: string;
    }>();
  });

  it("are changed by their names", () => {
    const current = { ...door.toDomain(message), id: 3 };
    const changed = door.apply(current, door.toDomain(zero), new Set(["is_open", "closes_at"]));
    expect(changed).toEqual({ ...current, isOpen: false, closesAt: null });
    expect([...door.names]).toEqual(["name", "is_open", "rooms", "closes_at", "kept_by", "rules"]);
  });

  it("are those of schema and message, and of the same types", () => {
    const { kept_by: _keptBy, ...fewer } = properties;
    const wrong = [
      // @ts-expect-error the message has a field that the schema lacks
      fields({ properties: fewer }, codec),
      // @ts-expect-error the schema has a field that the message lacks
      fields({ properties: { ...properties, width: id() } }, codec),
      // @ts-expect-error the message may be without the field, and the schema has no null
      fields({ properties: { ...properties, kept_by: text({ default: "" }) } }, codec),
      // @ts-expect-error the field is of another type
      fields({ properties: { ...properties, is_open: text() } }, codec),
    ];
    expect(wrong).toHaveLength(4);
  });
});

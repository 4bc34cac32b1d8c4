import { describe, expect, expectTypeOf, it } from "vitest";
import {
  any,
  arrayOf,
  boolean,
  choice,
  decimal,
  id,
  instant,
  integer,
  localized,
  mapOf,
  object,
  orPlain,
  partial,
  plain,
  slug,
  text,
} from "./build.ts";
import { type Checked, compileSchema, type TypeOf } from "./schema.ts";

/** Checked by the compiler: at run time these hold whatever the types are. */
describe("the type of a schema", () => {
  it("follows from its kind", () => {
    const schema = object(
      {
        text: text({ maxLength: 3 }),
        slug: slug(),
        decimal: decimal(),
        integer: integer(),
        id: id(),
        instant: instant(),
        number: plain(["number"], { minimum: 0 }),
        boolean: boolean(),
        any: any(),
        choice: choice(["a", "b"]),
        texts: arrayOf(text()),
        ids: mapOf(id({ nullable: true })),
        names: localized(),
      },
      {
        required: [
          ...(["text", "slug", "decimal", "integer", "id", "instant", "number", "boolean", "any", "choice"] as const),
          ...(["texts", "ids", "names"] as const),
        ],
      },
    );
    expectTypeOf<TypeOf<typeof schema>>().toEqualTypeOf<{
      readonly text: string;
      readonly slug: string;
      readonly decimal: string;
      readonly integer: number;
      readonly id: number;
      readonly instant: number;
      readonly number: number;
      readonly boolean: boolean;
      readonly any: unknown;
      readonly choice: "a" | "b";
      readonly texts: string[];
      readonly ids: Readonly<Record<string, number | null>>;
      readonly names: Readonly<Record<string, string>>;
    }>();
  });

  it("says what may be missing or null", () => {
    const schema = object(
      {
        needed: text(),
        filled: text({ default: "x" }),
        left: text(),
        none: text({ nullable: true }),
        noneFilled: instant({ nullable: true, default: null }),
        word: choice(["a"], { nullable: true, default: null }),
        inner: object({ at: instant() }, { nullable: true, default: null }),
        list: arrayOf(id(), { nullable: true, default: [] }),
        map: mapOf(id(), { nullable: true, default: {} }),
      },
      { required: ["needed"], closed: true },
    );
    expectTypeOf<TypeOf<typeof schema>>().toEqualTypeOf<{
      readonly needed: string;
      readonly filled: string;
      readonly left?: string;
      readonly none?: string | null;
      readonly noneFilled: number | null;
      readonly word: "a" | null;
      readonly inner: { readonly at?: number } | null;
      readonly list: number[] | null;
      readonly map: Readonly<Record<string, number>> | null;
    }>();
  });

  it("holds what may stand in the place of the value", () => {
    const schema = orPlain(object({ id: id() }, { required: ["id"] }), ["integer", "string", "null"]);
    expectTypeOf<TypeOf<typeof schema>>().toEqualTypeOf<{ readonly id: number } | number | string | null>();
  });

  it("survives a description or title that is added", () => {
    const schema = { title: "X", ...object({ id: { ...id(), description: "y" } }) };
    expectTypeOf<TypeOf<typeof schema>>().toEqualTypeOf<{ readonly id?: number }>();
  });

  it("loses what a change may leave out, and its defaults", () => {
    const schema = partial(
      object({ name: text(), at: instant({ nullable: true, default: null }) }, { required: ["name"] }),
    );
    expectTypeOf<TypeOf<typeof schema>>().toEqualTypeOf<{ readonly name?: string; readonly at?: number | null }>();
    expect(schema).toEqual(object({ name: text(), at: instant({ nullable: true }) }));
  });

  it("is what the compiled check gives", () => {
    const check = compileSchema(object({ name: text() }, { required: ["name"] }));
    expectTypeOf(check).returns.toEqualTypeOf<Checked<{ readonly name: string }>>();
  });

  it("is unknown for plain JSON Schema, which nothing ties to a type", () => {
    expectTypeOf(compileSchema({ type: "string" })).returns.toEqualTypeOf<Checked<unknown>>();
  });

  it("refuses defaults, required fields and schemas that do not fit", () => {
    const wrong = [
      // @ts-expect-error a default is one of the words
      choice(["a"], { default: "b" }),
      // @ts-expect-error a default is of the kind
      boolean({ default: "yes" }),
      // @ts-expect-error a required field is one of the fields
      object({ name: text() }, { required: ["nmae"] }),
      // @ts-expect-error a field is made by a builder
      object({ name: { type: "string" } }),
    ];
    expect(wrong).toHaveLength(4);
  });
});

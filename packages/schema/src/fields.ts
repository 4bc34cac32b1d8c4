import { formatInstant } from "@tessera/values";
import type { InstantSchema, Properties, TypeOf } from "./schema.ts";

/**
 * The three forms of a resource, derived from one schema: in the API (snake case, null, any JSON), in messages between
 * services (camel case, undefined, JSON as text), and in the domain of its owner (camel case, null, JSON as text).
 */
export interface Fields<P extends Properties, M extends object> {
  /** The names of the fields in the API. */
  readonly names: ReadonlySet<string>;
  /** The names of the fields that a body has: the mask of an update. */
  namesIn(body: object): string[];
  /** Makes a message of a body. A missing field gets the zero value of its message. */
  toMessage(body: { readonly [K in keyof P]?: TypeOf<P[K]> }): M;
  /** Makes the API's form of a message. */
  present(message: M): Shown<P>;
  toDomain(message: M): InDomain<P>;
  fromDomain(value: InDomain<P>): M;
  /** Applies the named fields of `sent`; other fields keep their value. */
  apply<D extends InDomain<P>>(current: D, sent: InDomain<P>, names: ReadonlySet<string>): D;
}

/** A resource as the API shows it: instants are texts. */
export type Shown<P extends Properties> = {
  readonly [K in keyof P]: P[K] extends InstantSchema ? string | Extract<TypeOf<P[K]>, null> : TypeOf<P[K]>;
};

/** A resource in the domain of its owner. */
export type InDomain<P extends Properties> = {
  readonly [K in keyof P as Camel<K>]: ValueInDomain<TypeOf<P[K]>>;
};

type ValueInDomain<T> = unknown extends T ? string : T extends readonly (infer E)[] ? readonly E[] : T;

type InMessage<T> = unknown extends T ? string : null extends T ? Text<Exclude<T, null>> | undefined : Text<T>;

/** Messages have one type for all texts, also for a word of a closed list. */
type Text<T> = T extends string ? string : T;

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;

/** The fields that only the message or only the schema has, and those of different types. */
type Differences<P extends Properties, M extends object> =
  | Exclude<keyof M, Camel<keyof P>>
  | {
      [K in keyof P]: Camel<K> extends keyof M
        ? Same<
            Required<M>[Camel<K>] | (undefined extends M[Camel<K>] ? undefined : never),
            InMessage<TypeOf<P[K]>>
          > extends true
          ? never
          : K
        : K;
    }[keyof P];

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** The generated functions of a message. */
interface Codec<M> {
  decode(bytes: Uint8Array): M;
}

type Values = Readonly<Record<string, unknown>>;

/** Derives the forms of a resource. A field that is missing in the schema or in the message is an error of the compiler. */
export function fields<P extends Properties, M extends object>(
  { properties }: { readonly properties: P },
  message: Codec<M> & ([Differences<P, M>] extends [never] ? unknown : { readonly differs: Differences<P, M> }),
): Fields<P, M> {
  const all = Object.entries(properties).map(([name, schema]) => ({
    name,
    key: toCamel(name),
    read: schema["read"],
    fallback: schema["default"],
  }));
  type Field = (typeof all)[number];
  const zero = message.decode(new Uint8Array()) as Values;
  /** In a loop, because tens of thousands are reshaped at a time. */
  const reshape = (chosen: readonly Field[], name: "name" | "key", toValue: (field: Field) => unknown) => {
    const shape: Record<string, unknown> = {};
    for (const field of chosen) shape[field[name]] = toValue(field);
    return shape;
  };
  const derived = {
    names: new Set(all.map(({ name }) => name)),
    namesIn: (body: object) => all.flatMap(({ name }) => (Object.hasOwn(body, name) ? [name] : [])),
    toMessage: (body: Values) =>
      reshape(all, "key", ({ name, key, read }) => {
        const value = body[name];
        if (value === undefined) return zero[key];
        return read === "any" ? JSON.stringify(value) : (value ?? undefined);
      }),
    present: (sent: Values) => reshape(all, "name", (field) => show(sent[field.key], field)),
    toDomain: (sent: Values) => reshape(all, "key", ({ key }) => sent[key] ?? null),
    fromDomain: (value: Values) => reshape(all, "key", ({ key }) => value[key] ?? undefined),
    apply: (current: Values, sent: Values, names: ReadonlySet<string>) => ({
      ...current,
      ...reshape(
        all.filter(({ name }) => names.has(name)),
        "key",
        ({ key }) => sent[key],
      ),
    }),
  };
  // The schema gives the types, and `Differences` compares the message with it.
  return derived as unknown as Fields<P, M>;
}

/** JSON that is missing in the message gets the default of the schema. */
function show(value: unknown, { read, fallback }: { readonly read: unknown; readonly fallback: unknown }): unknown {
  if (read === "any") return typeof value === "string" && value !== "" ? JSON.parse(value) : fallback;
  return read === "instant" && typeof value === "number" ? formatInstant(value) : (value ?? null);
}

function toCamel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

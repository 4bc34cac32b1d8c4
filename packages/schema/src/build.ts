import type { LeafOptions, Read } from "./leaf.ts";
import type { InstantSchema, JsonSchema, ObjectOf, ObjectSchema, Properties, Schema, TypeOf } from "./schema.ts";

interface Annotations<Default> {
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly default?: Default | null;
  readonly nullable?: boolean;
}

/** The options of any field. Its default is read like a sent value. */
interface FieldOptions<Default> extends LeafOptions, Annotations<Default> {
  readonly nullable?: boolean;
  readonly readOnly?: boolean;
}

/** The type with its options: null if it is nullable, and whether it has a default. */
type With<T, O> = Schema<T | NullOf<O>, IsFilled<O>>;
type NullOf<O> = O extends { readonly nullable?: infer N } ? (N extends true ? null : never) : never;
type IsFilled<O> = O extends { readonly default: unknown } ? true : false;

/** Only this function gives a schema its type. */
function typed<S extends Schema>(schema: JsonSchema): S {
  return schema as S;
}

function leafOf<T, Default = T, Marked = unknown>(read: Read, type: string, extra: JsonSchema = {}) {
  return <const O extends FieldOptions<Default> = Record<never, never>>(options?: O): With<T, O> & Marked =>
    typed({ read, ...extra, ...options, type: orNull(type, options) });
}

function orNull(type: string, options: { readonly nullable?: boolean } = {}): string | string[] {
  return options.nullable === true ? [type, "null"] : type;
}

/** A trimmed string. */
export const text = leafOf<string>("text", "string");

export const integer = leafOf<number>("integer", "integer");

/** The id of a record: a whole number, also as digits. */
export const id = leafOf<number>("id", "integer");

export const boolean = leafOf<boolean>("boolean", "boolean");

/** A decimal: read from a number or a string, and stored as a string with fixed places. */
export const decimal = leafOf<string>("decimal", "string", { format: "decimal" });

/** A number, or digits in quotes; it stays what it was. */
export const numeric = <const O extends Annotations<number> = Record<never, never>>(
  options?: O,
): With<number | string, O> =>
  typed({ read: "numeric", ...options, type: ["number", "string"], pattern: "^[0-9]+(\\.[0-9]+)?$" });

/** ISO 8601, stored as microseconds since 1970. */
export const instant = leafOf<number, string, InstantSchema>("instant", "string", { format: "date-time" });

export const slug = leafOf<string>("slug", "string");

export const uuid = leafOf<string>("uuid", "string", { format: "uuid" });

/** One of a closed list of words. */
export const choice = <const W extends string, const O extends FieldOptions<W> = Record<never, never>>(
  words: readonly W[],
  options?: O,
): With<W, O> =>
  typed({
    read: "choice",
    ...options,
    enum: options?.nullable === true ? [...words, null] : words,
    type: orNull("string", options),
  });

/** Any JSON. */
export const any = <const O extends FieldOptions<unknown> = Record<never, never>>(options?: O): With<unknown, O> =>
  typed({ read: "any", nullable: true, ...options });

/** Any JSON, also what cannot be kept as it was sent: it is for a reader that drops such values. */
export const raw = (): Schema<unknown, false> => typed({ read: "raw", nullable: true });

/** JSON that is kept as it was sent: its value is the text. What it may be is shown, and checked where it is read. */
export const jsonText = (shape: Schema, options: { readonly description?: string } = {}): Schema<string, false> =>
  typed({ ...shape, ...options, read: "json" });

interface ObjectOptions<Name> extends Annotations<unknown> {
  readonly required?: readonly Name[];
  readonly closed?: boolean;
}

type RequiredIn<O> = O extends { readonly required: readonly (infer Name)[] } ? Name : never;

/** An object of named fields. Those in `required` must be present. Unknown fields are ignored, unless it is `closed`. */
export function object<
  const P extends Properties,
  const O extends ObjectOptions<keyof P & string> = Record<never, never>,
>(properties: P, options?: O): ObjectSchema<P, ObjectOf<P, RequiredIn<O> & keyof P> | NullOf<O>, IsFilled<O>> {
  const { required = [], closed = false, nullable: _inType, ...rest } = options ?? {};
  return typed({
    type: orNull("object", options),
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...(closed ? { additionalProperties: false } : {}),
    ...rest,
  });
}

/** An object of one of several kinds, which a field names: each kind requires that field, as a `constant`. */
export const oneKindOf = <
  const T extends string,
  S extends ObjectSchema<Properties & Record<T, Schema<string>>, unknown>,
>(
  tag: T,
  kinds: readonly S[],
): Schema<TypeOf<S>, false> => typed({ type: "object", discriminator: { propertyName: tag }, oneOf: kinds });

/** Fields without defaults. */
type Unfilled<P extends Properties> = { readonly [K in keyof P]: Schema<TypeOf<P[K]>, false> };

/** The same fields for a change: any may be missing, and defaults do not apply. */
export function partial<P extends Properties>({
  properties,
}: {
  readonly properties: P;
}): ObjectSchema<Unfilled<P>, ObjectOf<Unfilled<P>>, false> {
  const fields = Object.entries(properties).map(([name, { default: _none, ...schema }]) => [name, schema]);
  return typed({ type: "object", properties: Object.fromEntries(fields) });
}

interface MapOptions<T> extends Annotations<Readonly<Record<string, T>>> {
  readonly maxProperties?: number;
  /** The schema of the names, a text. */
  readonly propertyNames?: Schema<string>;
}

/** A map from names to values of one kind. */
export const mapOf = <S extends Schema, const O extends MapOptions<TypeOf<S>> = Record<never, never>>(
  values: S,
  options?: O,
): With<Readonly<Record<string, TypeOf<S>>>, O> => {
  const { nullable: _inType, ...rest } = options ?? {};
  return typed({ type: orNull("object", options), additionalProperties: values, ...rest });
};

/** The same fields, which may be null, and are so if an empty value is sent: languages without types have one for all. */
export function orNothing<P extends Properties>(fields: P): P {
  const entries = Object.entries(fields).map(([name, field]) => [name, { ...field, orNothing: true }]);
  return Object.fromEntries(entries) as P;
}

interface ArrayOptions<T> extends Annotations<readonly T[]> {
  readonly minItems?: number;
  readonly maxItems?: number;
}

export const arrayOf = <S extends Schema, const O extends ArrayOptions<TypeOf<S>> = Record<never, never>>(
  items: S,
  options?: O,
): With<TypeOf<S>[], O> => {
  const { nullable: _inType, ...rest } = options ?? {};
  return typed({ type: orNull("array", options), items, ...rest });
};

/** A text for each language. */
export const localized = <const O extends MapOptions<string> = Record<never, never>>(options?: O) =>
  mapOf(text({ trim: false }), { maxProperties: 200, ...(options as O) });

interface Plain {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly object: Readonly<Record<string, unknown>>;
  readonly null: null;
}

interface PlainOptions<T> extends Omit<Annotations<T>, "nullable"> {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

/** Plain JSON values: a text is never read as a number. */
export const plain = <const K extends keyof Plain, const O extends PlainOptions<Plain[K]> = Record<never, never>>(
  types: readonly K[],
  options?: O,
): Schema<Plain[K], IsFilled<O>> => typed({ ...options, type: types });

/** The values of a schema, or plain values of other types. */
export const orPlain = <
  S extends Schema,
  const K extends keyof Plain,
  const O extends PlainOptions<TypeOf<S> | Plain[K]> = Record<never, never>,
>(
  schema: S,
  types: readonly K[],
  options?: O,
): Schema<TypeOf<S> | Plain[K], IsFilled<O>> =>
  typed({ ...schema, ...options, type: [schema["type"], ...types].flat() });

/** The same field with its meaning and, where its type alone gives no good one, an example. */
export const field = <S extends Schema>(schema: S, description: string, example?: unknown): S =>
  typed({ ...schema, description, ...(example === undefined ? {} : { examples: [example] }) });

/** Only this value. */
export const constant = <const V extends string>(value: V): Schema<V, false> => typed({ const: value });

/**
 * The same field, without which a record does not say whom it admits where and when: what contains a wrong one is left out, or
 * the whole record. So is what contains a wrong field that is required and has no default; every other one is left out alone.
 */
export const needed = <S extends Schema>(schema: S, by: "part" | "record" = "part"): S =>
  typed({ ...schema, needed: by });

/** The same field, which is this where it cannot be read: its default would open more. Null is the default all the same. */
export const orUnread = <S extends Schema>(schema: S, value: TypeOf<S>): S => typed({ ...schema, unread: value });

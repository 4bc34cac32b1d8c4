import { object } from "@tessera/schema/build";
import { FieldProblems } from "@tessera/schema/field-problems";
import { type Checked, compileSchema, type Properties, type Schema, type TypeOf } from "@tessera/schema/schema";
import { compileDocument, type DocumentOptions } from "./document.ts";
import { compileSlicedCheck } from "./sliced-check.ts";
import { atOnce, inTurns, type Slices } from "./slices.ts";
import { ofElement } from "./validate.ts";

/** What a record's `data` has become: the values to work with, and the document to keep. */
export interface Reading<T> {
  readonly data: T;
  /** JSON. */
  readonly document: string;
}

/** Returns the error of a value that its schema accepts, never quoting the value. A part that a record can do without is then left out. */
export type Rule = (value: unknown) => string | undefined;

export interface ReaderOptions extends DocumentOptions {
  /** Rules by the path of the field they are about; `*` stands for every element. */
  readonly rules?: Readonly<Record<string, Rule>>;
}

/** Replaces aliases by what they stand for and fills in what follows from other fields. */
interface Completion<T, U> {
  readonly complete: (data: T) => U;
}

export interface Reader<T> {
  (data: unknown): Checked<Reading<T>>;
  /** Does the same in slices, so that a record with long lists does not block the event loop. */
  inSlices(data: unknown): Promise<Checked<Reading<T>>>;
}

/** Compiles the reader of one kind of record: checks known fields, naming every wrong one, and forgets unknown ones. */
export function compileReader<S extends Schema, U>(
  schema: S,
  options: ReaderOptions & Completion<TypeOf<S>, U>,
): Reader<U>;
export function compileReader<S extends Schema>(schema: S, options?: ReaderOptions): Reader<TypeOf<S>>;
export function compileReader(
  schema: Schema,
  options: ReaderOptions & Partial<Completion<unknown, unknown>> = {},
): Reader<unknown> {
  const check = compileSlicedCheck(schema);
  const toDocument = compileDocument(schema, options);
  const rules = Object.entries(options.rules ?? {}).map(([path, rule]) => ({ steps: path.split("."), rule }));
  function* read(data: unknown): Slices<Checked<Reading<unknown>>> {
    const checked = yield* check(data);
    const problems = new FieldProblems({ most: Number.POSITIVE_INFINITY });
    if (!checked.ok) problems.addAll(checked.errors);
    for (const { steps, rule } of rules) {
      yield;
      applyRule(checked.ok ? checked.value : data, { steps, rule, path: "", problems });
    }
    if (!checked.ok || !problems.isEmpty) return { ok: false, errors: problems.toErrors() };
    yield;
    const value = options.complete === undefined ? checked.value : options.complete(checked.value);
    yield;
    const document = toDocument(value);
    yield;
    return { ok: true, value: { data: value, document: JSON.stringify(document) } };
  }
  return Object.assign((data: unknown) => atOnce(read(data)), { inSlices: (data: unknown) => inTurns(read(data)) });
}

/** The part of a document that is about its record as it was sent. */
export interface Misread {
  /** The paths of values that could not be read, if any: the document has a default there. */
  readonly unread?: readonly string[];
}

/** Notes in a document what could not be read of its record. */
export function noteUnread<T>(checked: Checked<Reading<T>>, wrong: readonly string[]): Checked<Reading<T>> {
  if (!checked.ok || wrong.length === 0) return checked;
  const { data, document } = checked.value;
  const noted = { ...(JSON.parse(document) as object), unread: wrong } satisfies Misread;
  return { ok: true, value: { data, document: JSON.stringify(noted) } };
}

/** A document as others may see it: without what `noteUnread` noted. */
export function withoutUnread(document: string): string {
  if (!document.includes('"unread"')) return document;
  const { unread: _, ...shown } = JSON.parse(document) as Record<string, unknown>;
  return JSON.stringify(shown);
}

export function compileKeyReader(
  { properties }: { readonly properties: Properties },
  key: string,
): (data: unknown) => Checked<string> {
  const check = compileSchema(object({ [key]: fieldOf(properties, key) }, { required: [key] }));
  return (data) => {
    const checked = check(data);
    return checked.ok ? { ok: true, value: String(checked.value[key]) } : checked;
  };
}

/** Compiles the reader of a moment in the data of a removal; null: it names none. */
export function compileMomentReader(
  { properties }: { readonly properties: Properties },
  name: string,
): (data: unknown) => Checked<number | null> {
  const check = compileSchema(object({ [name]: fieldOf(properties, name) }));
  return (data) => {
    const checked = check(data);
    return checked.ok ? { ok: true, value: checked.value[name] as number | null } : checked;
  };
}

function fieldOf(properties: Properties, name: string): Schema {
  const field = properties[name];
  if (field === undefined) throw new Error(`the schema has no field ${name}`);
  return field;
}

interface RuleAt {
  readonly steps: readonly string[];
  readonly rule: Rule;
  readonly path: string;
  readonly problems: FieldProblems;
}

/** Rules also run where other fields are wrong, so nothing here may rely on the schema. */
function applyRule(value: unknown, { steps, rule, path, problems }: RuleAt): void {
  const [step, ...rest] = steps;
  if (step === undefined) {
    const message = problems.has(path) ? undefined : rule(value);
    if (message !== undefined) problems.add(path, message);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const at = (name: string | number) => (path === "" ? String(name) : `${path}.${name}`);
  if (step === "*") {
    if (!Array.isArray(value)) return;
    for (const [index, element] of value.entries()) {
      const ofPart: Rule = rest.length > 0 ? rule : (inner) => withElement(index, rule(inner));
      applyRule(element, { steps: rest, rule: ofPart, path: at(index), problems });
    }
  } else if (Object.hasOwn(value, step)) {
    applyRule((value as Record<string, unknown>)[step], { steps: rest, rule, path: at(step), problems });
  }
}

function withElement(index: number, message: string | undefined): string | undefined {
  return message === undefined ? undefined : ofElement(index, message);
}

import { Fault, type FieldErrors } from "@tessera/kit/fault";
import { inSlices } from "@tessera/kit/in-slices";
import { waitAtMost } from "@tessera/kit/wait-at-most";
import { replaceWrong } from "@tessera/schema/replace-wrong";
import type { JsonSchema } from "@tessera/schema/schema";
import { WrongFields } from "@tessera/schema/wrong-fields";
import { checkBody } from "../body/parse-body.ts";
import { fault } from "../faults.ts";
import { alignElementErrors, ElementErrors, invalidElements } from "../http/element-errors.ts";
import type { Parameters } from "../http/parameter.ts";
import type { Body, ListBody, ObjectBody } from "../http/route.ts";

/** An answer without what the service knows is better than a late one. */
const longestMs = 2000;

/** A body some of whose fields are not valid. */
interface WrongBody {
  readonly body: Body<unknown>;
  /** What was sent. Its wrong fields are replaced. */
  readonly sent: unknown;
  /** The field whose elements the service names as `<index>.<field>`. */
  readonly listField: string | undefined;
  /** Throws what is wrong with single fields of a valid body. */
  examine(valid: unknown): Promise<unknown>;
}

/** Adds to what the schema of a body has found wrong what the service finds wrong with its other fields, such as unknown ids. */
export async function withOtherErrors(error: unknown, { body, sent, listField, examine }: WrongBody): Promise<unknown> {
  if (!(error instanceof Fault)) return error;
  const examined = async (rest: unknown) => {
    const valid = await checkBody(rest, body).catch(() => undefined);
    return valid === undefined ? undefined : soon(examine(valid));
  };
  return body.kind === "list"
    ? ofList(error, { body, sent, examined })
    : ofObject(error, { body, sent, listField, examined });
}

/** Adds to parameters that cannot be read those that name what the event does not have. */
export async function withOtherParameters(
  error: unknown,
  {
    parameters,
    search,
    examine,
  }: {
    readonly parameters: Parameters;
    readonly search: URLSearchParams;
    /** Throws what is wrong with the readable parameters. */
    examine(rest: URLSearchParams): Promise<unknown>;
  },
): Promise<unknown> {
  if (!(error instanceof Fault) || error.fields === undefined) return error;
  const rest = new URLSearchParams(search);
  for (const name of Object.keys(error.fields)) rest.delete(name);
  const isLookedUp = Object.entries(parameters).some(([name, { refers }]) => refers === true && rest.has(name));
  const found = isLookedUp ? await soon(examine(rest)) : undefined;
  if (!(found instanceof Fault) || found.fields === undefined) return error;
  return fault("invalid_query", error.message, { fields: { ...found.fields, ...error.fields } });
}

/** What an examination throws. What the service cannot say soon is no reason to keep what is known. */
function soon(examination: Promise<unknown>): Promise<unknown> {
  return waitAtMost(longestMs, examination, () => new Error("it takes too long")).then(
    () => undefined,
    (found: unknown) => found,
  );
}

type Examined = (rest: unknown) => Promise<unknown>;

async function ofObject(
  error: Fault,
  {
    body,
    sent,
    listField,
    examined,
  }: Pick<WrongBody, "sent" | "listField"> & { body: ObjectBody<unknown>; examined: Examined },
): Promise<unknown> {
  if (error.fields === undefined) return error;
  const wrong = new WrongFields(error.fields);
  const rest = replaceWrong(body.schema, sent, wrong.paths);
  if (rest === undefined) return error;
  const found = await examined(rest);
  if (!(found instanceof Fault) || found.fields === undefined) return error;
  const named = Object.entries(withoutContradictions(found.fields)).map(([path, messages]) => {
    const isElement = listField !== undefined && /^\d/.test(path);
    return [isElement ? `${listField}.${path}` : path, messages] as const;
  });
  if (!wrong.add(Object.fromEntries(named))) return error;
  return fault("invalid_body", error.message, { fields: wrong.toErrors() });
}

async function ofList(
  error: Fault,
  { body, sent, examined }: { body: ListBody<unknown>; sent: unknown; examined: Examined },
): Promise<unknown> {
  const { cause } = error;
  if (!(cause instanceof ElementErrors) || !Array.isArray(sent)) return error;
  const { elements } = cause;
  const rest: unknown[] = [];
  await inSlices(sent.entries(), ([index, element]) => {
    const wrong = Object.keys(elements[index] ?? {});
    rest.push(wrong.length === 0 ? element : standIn(body.schema.items, element, wrong));
  });
  const found = alignElementErrors(ofReadable(await examined(rest), elements), sent.length);
  if (!(found instanceof Fault) || !(found.cause instanceof ElementErrors)) return error;
  const all: FieldErrors[] = [];
  await inSlices(found.cause.elements.entries(), ([index, others]) => {
    all.push(joined(elements[index] ?? {}, others));
  });
  return invalidElements(all);
}

/** Joins what the schema and the service say of an element. Of one that is wrong as a whole the service got another. */
function joined(errors: FieldErrors, others: FieldErrors): FieldErrors {
  if (errors["non_field_errors"] !== undefined) return errors;
  const wrong = new WrongFields(errors);
  wrong.add(others);
  return wrong.toErrors();
}

/** What a service has found, without the contradictions of elements of which something could not be read. */
function ofReadable(found: unknown, elements: readonly FieldErrors[]): unknown {
  if (!(found instanceof Fault) || found.kind !== "invalid" || found.fields === undefined) return found;
  const told = Object.entries(found.fields).filter(([path]) => {
    const [, index] = /^(\d+)\.non_field_errors$/.exec(path) ?? [];
    return index === undefined || Object.keys(elements[Number(index)] ?? {}).length === 0;
  });
  return fault("invalid_body", found.message, { fields: Object.fromEntries(told) });
}

/** An element without its wrong fields, or something valid in its place. */
function standIn(schema: JsonSchema, element: unknown, wrong: readonly string[]): unknown {
  const paths = wrong.map((field) => (field === "non_field_errors" ? "list.0" : `list.0.${field}`));
  const replaced = replaceWrong({ properties: { list: { items: schema } } }, { list: [element] }, paths);
  return (replaced as { readonly list: readonly unknown[] } | undefined)?.list[0];
}

/** Fields contradict each other only if each can be read: something else may stand for one of them. */
function withoutContradictions({ non_field_errors: _contradictions, ...fields }: FieldErrors): FieldErrors {
  return fields;
}

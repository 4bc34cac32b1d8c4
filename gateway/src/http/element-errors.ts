import { Fault, type FieldErrors } from "@tessera/kit/fault";
import { fault } from "../faults.ts";

/** The errors of the elements of a list, in the order of the request; a valid element has none. */
export class ElementErrors extends Error {
  override readonly name = "ElementErrors";
  readonly elements: readonly FieldErrors[];
  /** The list field, with the errors of the fields beside it; undefined: the body is the list. */
  readonly inField: { readonly name: string; readonly beside: FieldErrors } | undefined;

  constructor(elements: readonly FieldErrors[], inField?: ElementErrors["inField"]) {
    super("some elements are not valid");
    this.elements = elements;
    this.inField = inField;
  }

  get body(): unknown {
    return this.inField === undefined ? this.elements : { ...this.inField.beside, [this.inField.name]: this.elements };
  }
}

export function invalidElements(elements: readonly FieldErrors[], inField?: ElementErrors["inField"]): Fault {
  const cause = new ElementErrors(elements, inField);
  return fault("invalid_body", cause.message, { cause });
}

/** Converts a service's errors, whose fields are `<index>.<field>`, to errors by element. */
export function alignElementErrors(error: unknown, count: number): unknown {
  if (!(error instanceof Fault) || error.kind !== "invalid" || error.fields === undefined) return error;
  const aligned = align(error.fields, count);
  return aligned === undefined ? error : invalidElements(aligned);
}

/** The same for a list field of the body: fields are `<field>.<index>.<field>`, or as above. */
export function alignErrorsIn(field: string, error: unknown, count: number): unknown {
  if (!(error instanceof Fault) || error.kind !== "invalid" || error.fields === undefined) return error;
  const ofElement = new RegExp(`^(?:${field}\\.)?(\\d{1,9})(?:\\.(.+))?$`, "s");
  const inList: [string, readonly string[]][] = [];
  const beside: [string, readonly string[]][] = [];
  for (const [path, messages] of Object.entries(error.fields)) {
    const [, index, inside = "non_field_errors"] = ofElement.exec(path) ?? [];
    if (index !== undefined) inList.push([`${index}.${inside}`, messages]);
    else (path === field || path === "non_field_errors" ? inList : beside).push([path, messages]);
  }
  const aligned = align(Object.fromEntries(inList), count);
  return aligned === undefined ? error : invalidElements(aligned, { name: field, beside: Object.fromEntries(beside) });
}

/** Converts a service's errors of a single element that a client sent alone. */
export function unwrapElementErrors(error: unknown): unknown {
  const aligned = alignElementErrors(error, 1);
  if (!(aligned instanceof Fault && aligned.cause instanceof ElementErrors)) return error;
  const [fields = {}] = aligned.cause.elements;
  return fault("invalid_body", "some fields are not valid", { fields });
}

/** Errors without an element, such as a note that there are more, are appended to the last wrong element. */
function align(fields: FieldErrors, count: number): readonly FieldErrors[] | undefined {
  const elements = Array.from({ length: count }, () => new Map<string, readonly string[]>());
  const others: [string, readonly string[]][] = [];
  let last = -1;
  for (const [path, messages] of Object.entries(fields)) {
    const [, index, field] = /^(\d{1,9})\.(.+)$/s.exec(path) ?? [];
    const element = index === undefined ? undefined : elements[Number(index)];
    if (element === undefined || field === undefined) others.push([path, messages]);
    else {
      element.set(field, messages);
      last = Math.max(last, Number(index));
    }
  }
  const lastWrong = elements[last];
  if (lastWrong === undefined) return undefined;
  for (const [path, messages] of others) lastWrong.set(path, [...(lastWrong.get(path) ?? []), ...messages]);
  return elements.map((element) => Object.fromEntries(element));
}

import { mapInSlices } from "@tessera/kit/waiting/in-slices";
import { arrayOf, object } from "@tessera/schema/build";
import type { Checked, ObjectSchema, Properties } from "@tessera/schema/schema";
import { isObject } from "@tessera/values";
import { checkElement, listBodyOf } from "./list-body.ts";
import { type BatchBody, bodyOf, checkObject, type ObjectBody } from "./route.ts";

/** An object with a long list in the field `Name`, each element of which is valid or has errors. */
export type Batch<H, Name extends string, E> = H & { readonly [N in Name]: readonly Checked<E>[] };

/** Declares a body that is one object, and has a list of these bodies in one field. */
export function batchBodyOf<P extends Properties, H, Name extends string, E>(
  head: ObjectSchema<P, H> & { readonly title: string },
  {
    field,
    element,
    description,
    ...limits
  }: {
    readonly field: Name;
    readonly element: ObjectBody<E>;
    readonly description: string;
    readonly mostElements: number;
    readonly maxBytes: number;
  },
): BatchBody<Batch<H, Name, E>> {
  const ofHead: ObjectBody<H> = bodyOf(head);
  const { kind: _kind, schema, check: _check, ...list } = listBodyOf(element, limits);
  const listed = arrayOf(schema.items, { maxItems: limits.mostElements, description });
  return {
    kind: "batch",
    maxBytes: limits.maxBytes,
    field,
    head: ofHead,
    list,
    schema: { title: head.title, ...object({ ...head.properties, [field]: listed }, { required: [field] }) },
    check: (sent) => checkBatch<H, Name, E>(sent, { field, head: ofHead, element }),
  };
}

async function checkBatch<H, Name extends string, E>(
  sent: unknown,
  { field, head, element }: { readonly field: Name; readonly head: ObjectBody<H>; readonly element: ObjectBody<E> },
): Promise<Checked<Batch<H, Name, E>>> {
  const rest = checkObject(head, sent);
  const list = isObject(sent) ? sent[field] : undefined;
  const missing = Array.isArray(list) ? {} : { [field]: ["This field is required."] };
  if (!rest.ok) return { ok: false, errors: { ...rest.errors, ...missing } };
  if (!Array.isArray(list)) return { ok: false, errors: missing };
  const checked = await mapInSlices(list as readonly unknown[], (each) => checkElement(each, element));
  return { ok: true, value: { ...rest.value, [field]: checked } as Batch<H, Name, E> };
}

import { bringsBackErased, type ErasedUntil } from "@tessera/events/personal-data/erased-until";
import { filledFields, type Shredder } from "@tessera/values";
import type { Known } from "../domain/known.ts";

/**
 * The personal data in the document of an order, by the shredder that erases it, with the replacement: the value of a
 * field that a record leaves out. Country and state of a position stay (D3.13).
 */
export const orderPersonalData: Readonly<Partial<Record<Shredder, Readonly<Record<string, unknown>>>>> = {
  attendee_info: {
    "positions.*.attendee_name": undefined,
    "positions.*.attendee_name_parts": {},
    "positions.*.company": undefined,
    "positions.*.street": undefined,
    "positions.*.zipcode": undefined,
    "positions.*.city": undefined,
  },
  order_emails: { email: undefined, customer: undefined, "positions.*.attendee_email": undefined },
  phone_numbers: { phone: undefined },
  invoice_addresses: { invoice_address: undefined },
  question_answers: { "positions.*.answers": [] },
};

/** The paths of some kinds, with their replacements. */
export function personalDataOf(kinds: Iterable<string>): Readonly<Record<string, unknown>> {
  const all: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>> = orderPersonalData;
  return Object.assign({}, ...Array.from(kinds, (kind) => all[kind] ?? {})) as Record<string, unknown>;
}

const movedOn =
  "This order was placed before personal data of the event was erased. No record may say that it was placed later.";

/**
 * Refuses records that would bring erased data back. Orders placed after an erasure are new data, unless they take over
 * positions of an older order. `placedAt` has the stored orders, `lostAt` the lost positions.
 */
export function refuseErased(
  data: { readonly code: string; readonly datetime: number; readonly positions: readonly { readonly id: number }[] },
  {
    erased,
    placedAt,
    lostAt,
    positions,
  }: {
    readonly erased: ErasedUntil;
    readonly placedAt: ReadonlyMap<string, number>;
    readonly lostAt: ReadonlyMap<number, number>;
    readonly positions: Known["positions"];
  },
  addError: (path: string, message: string) => void,
): void {
  const stored = placedAt.get(data.code);
  const times = data.positions.flatMap(({ id }) => [
    placedAt.get(positions.get(id)?.order ?? data.code),
    lostAt.get(id),
  ]);
  const oldest = Math.min(...[data.datetime, stored, ...times].filter((at) => at !== undefined));
  const brings = (kind: string, at: number) => bringsBackErased(erased, kind, at);
  const kinds = [...erased.keys()];
  const isFreed = kinds.some((kind) => stored !== undefined && brings(kind, stored) && !brings(kind, data.datetime));
  if (stored !== undefined && stored < data.datetime && isFreed) addError("datetime", movedOn);
  for (const kind of kinds) {
    if (!brings(kind, data.datetime) && !brings(kind, oldest)) continue;
    const fields = orderPersonalData[kind as Shredder];
    for (const path of filledFields(data, Object.keys(fields ?? {})))
      addError(path, `This personal data of the event was erased (${kind}), and no record may bring it back.`);
  }
}

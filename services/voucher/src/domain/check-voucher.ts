import { unknownId } from "@tessera/values";
import { findCodeProblem } from "./normalize-code.ts";
import type { Voucher, VoucherFields } from "./voucher.ts";

/** Messages by field; what belongs to no single field is under `non_field_errors`. */
export type VoucherErrors = Record<string, string[]>;

/** The entities of the event that a voucher may refer to. */
export interface KnownReferences {
  readonly series: boolean;
  readonly items: ReadonlyMap<number, KnownItem>;
  /** The item of each variation. */
  readonly variations: ReadonlyMap<number, number>;
  readonly quotas: ReadonlySet<number>;
  readonly subevents: ReadonlySet<number>;
}

export interface KnownItem {
  readonly hasVariations: boolean;
  /** Whether the category of the item is for add-ons. */
  readonly isAddon: boolean;
  /** Whether the item is sold only in bundles. */
  readonly requiresBundling: boolean;
}

/** A voucher as it would be after a change. */
export interface VoucherChange {
  readonly fields: VoucherFields;
  /** The names of the fields that were sent, as in the API. */
  readonly sent: ReadonlySet<string>;
  /** The voucher before the change; undefined: it is new. */
  readonly before: Pick<Voucher, "code" | "redeemed"> | undefined;
}

/**
 * Finds what is wrong with a voucher, apart from the ledger and other vouchers.
 *
 * Fields that were sent are checked. If all are valid by themselves, the rules between fields apply to the whole
 * voucher, and the first broken rule is reported.
 */
export function checkVoucher(change: VoucherChange, known: KnownReferences): VoucherErrors {
  const errors = checkFields(change, known);
  if (Object.keys(errors).length > 0) return errors;
  const broken = rules.find(({ isBroken }) => isBroken(change, known));
  return broken === undefined ? {} : { non_field_errors: [broken.explain(change)] };
}

/** Checks each sent field by itself. */
function checkFields({ fields, sent, before }: VoucherChange, known: KnownReferences): VoucherErrors {
  const unknown = (id: number | null, there: { has(id: number): boolean }, what: string) =>
    id === null || there.has(id) ? undefined : unknownId(id, what);
  const problems: readonly (readonly [field: string, problem: string | undefined])[] = [
    // A record may have brought a code that no new voucher can have.
    ["code", fields.code === before?.code ? undefined : findCodeProblem(fields.code)],
    ["item", unknown(fields.item, known.items, "item")],
    ["variation", unknown(fields.variation, known.variations, "variation")],
    ["quota", unknown(fields.quota, known.quotas, "quota")],
    ["comment", findCommentProblem(fields.comment)],
    ["subevent", unknown(fields.subevent, known.subevents, "date")],
  ];
  return Object.fromEntries(
    problems.flatMap(([field, problem]) => (problem !== undefined && sent.has(field) ? [[field, [problem]]] : [])),
  );
}

/** 64 KiB of UTF-8. */
const mostCommentBytes = 65_536;

function findCommentProblem(comment: string): string | undefined {
  // A UTF-16 code unit has at most three bytes in UTF-8, so most comments need no encoding.
  if (comment.length * 3 <= mostCommentBytes || new TextEncoder().encode(comment).length <= mostCommentBytes) {
    return undefined;
  }
  return `Ensure this field has no more than ${mostCommentBytes} bytes.`;
}

/** Whether a voucher is to block quota, and names neither a product nor a quota. */
export const blocksNothing = ({ blockQuota, item, quota }: Pick<VoucherFields, "blockQuota" | "item" | "quota">) =>
  blockQuota && item === null && quota === null;

/** Whether a voucher is to block quota, and names no date, which it needs in an event series. */
export const blocksNoDate = ({ blockQuota, subevent }: Pick<VoucherFields, "blockQuota" | "subevent">) =>
  blockQuota && subevent === null;

interface Rule {
  readonly isBroken: (change: VoucherChange, known: KnownReferences) => boolean;
  readonly explain: (change: VoucherChange) => string;
}

/** In order of precedence. A referenced product may have been deleted since; rules about it then hold. */
const rules: readonly Rule[] = [
  {
    isBroken: ({ fields: { quota, item, variation } }) => quota !== null && (item !== null || variation !== null),
    explain: () => "A voucher is for a quota or for a product, not for both.",
  },
  {
    isBroken: ({ fields }, known) => itemOf(fields, known)?.isAddon === true,
    explain: () => "A voucher cannot be for an add-on product.",
  },
  {
    isBroken: ({ fields }, known) => itemOf(fields, known)?.requiresBundling === true,
    explain: () => "A voucher cannot be for a product that is sold only as part of other products.",
  },
  {
    isBroken: ({ fields }, known) => fields.variation !== null && itemOf(fields, known)?.hasVariations === false,
    explain: () => "This product has no variations.",
  },
  {
    isBroken: ({ fields: { item, variation } }, { variations }) => {
      const owner = variation === null ? undefined : variations.get(variation);
      return item !== null && owner !== undefined && owner !== item;
    },
    explain: () => "This variation belongs to another product.",
  },
  {
    isBroken: ({ fields }) => blocksNothing(fields),
    explain: () => "Only a voucher for a product or a quota can block quota.",
  },
  {
    isBroken: ({ fields: { item, variation } }) => variation !== null && item === null,
    explain: () => "A voucher for a variation needs the product of the variation.",
  },
  {
    isBroken: ({ fields }, { series }) => series && blocksNoDate(fields),
    explain: () => "In an event series, a voucher that blocks quota needs a date.",
  },
  {
    isBroken: ({ fields: { subevent } }, { series }) => !series && subevent !== null,
    explain: () => "This event is not a series: a voucher cannot be for a date of it.",
  },
  {
    isBroken: ({ fields: { maxUsages }, before }) => before !== undefined && maxUsages < before.redeemed,
    explain: ({ before }) =>
      `This voucher was redeemed ${before?.redeemed} times: \`max_usages\` cannot be less than that.`,
  },
  {
    // Only a new voucher without a minimum may have no usages.
    isBroken: ({ fields: { maxUsages, minUsages }, sent, before }) =>
      (before !== undefined || sent.has("min_usages")) && maxUsages < minUsages,
    explain: () => "`max_usages` cannot be less than `min_usages`.",
  },
];

function itemOf({ item }: VoucherFields, { items }: KnownReferences): KnownItem | undefined {
  return item === null ? undefined : items.get(item);
}

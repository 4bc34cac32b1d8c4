import { type AddError, notKnown } from "@tessera/records/validate";
import { firstIdMadeHere } from "@tessera/values";
import type { Known } from "./known.ts";

interface Order {
  readonly code: string;
  readonly sales_channel: string;
  /** The ids of positions that could not be read. */
  readonly status: string;
  readonly unread: Pick<ReadonlySet<number>, "has">;
  readonly fees: readonly { readonly tax_rule: number | null }[];
  readonly positions: readonly Position[];
}

interface Position {
  readonly id: number;
  readonly positionid: number;
  readonly addon_to: number | null;
  readonly item: number;
  readonly variation: number | null;
  readonly subevent: number | null;
  readonly tax_rule: number | null;
  readonly answers: readonly { readonly question: number; readonly options: readonly number[] }[] | null;
  readonly checkins: readonly Checkin[] | null;
}

interface Checkin {
  readonly id: number;
  readonly list: number;
  readonly datetime: number;
  readonly type: string;
}

/** Finds positions that contradict each other. */
export function validatePositions({ positions: all, unread }: Order, addError: AddError): void {
  const ids = new Set<number>();
  for (const [index, { id }] of all.entries()) {
    if (ids.has(id)) addError(`positions.${index}`, `Position ${id} occurs twice.`);
    ids.add(id);
  }
  for (const [index, { id, addon_to }] of all.entries()) {
    if (addon_to !== null && (addon_to === id || !(ids.has(addon_to) || unread.has(addon_to)))) {
      addError(`positions.${index}.addon_to`, "This is not the id of another position of the order.");
    }
  }
  for (const [index, position] of all.entries()) {
    validateCheckins(position, (field, message) => addError(`positions.${index}.${field}`, message));
  }
}

const listMadeHere = `Lists with ids from ${firstIdMadeHere} on were made here; scans of them come from no record.`;

/** Of two different scans with the same id, one would be dropped as a repetition. */
function validateCheckins({ checkins }: Position, addError: AddError): void {
  const known = new Map<number, Checkin>();
  for (const [index, checkin] of (checkins ?? []).entries()) {
    const other = known.get(checkin.id);
    known.set(checkin.id, checkin);
    if (checkin.list >= firstIdMadeHere) addError(`checkins.${index}.list`, listMadeHere);
    if (other === undefined) continue;
    if (other.list === checkin.list && other.datetime === checkin.datetime && other.type === checkin.type) continue;
    addError(`checkins.${index}.id`, `Check-in ${checkin.id} occurs twice, as different ones.`);
  }
}

/** Finds references of an order that the event does not have. */
export function validateReferences(data: Order, known: Known, addError: AddError): void {
  for (const [index, position] of data.positions.entries()) {
    validatePosition(position, known, (field, message) => addError(`positions.${index}.${field}`, message));
  }
}

/** An item may have had no variations when a position was sold, so a missing variation is not checked. */
function validatePosition(position: Position, known: Known, addError: AddError): void {
  const { item, variation, subevent } = position;
  const variations = known.items.get(item);
  if (variations === undefined) addError("item", notKnown(`item ${item}`));
  else if (isUnknown(variation, variations)) addError("variation", `Item ${item} has no variation ${variation}.`);
  if (subevent === null && known.series === true) addError("subevent", "A position of a series belongs to a date.");
  if (isUnknown(subevent, known.subevents)) addError("subevent", notKnown(`subevent ${subevent}`));
  for (const [index, { question, options }] of (position.answers ?? []).entries()) {
    const has = known.questions.get(question)?.options;
    if (has === undefined) {
      addError(`answers.${index}`, notKnown(`question ${question}`));
      continue;
    }
    for (const [at, option] of options.entries()) {
      if (!(option in has)) addError(`answers.${index}.options.${at}`, `Question ${question} has no option ${option}.`);
    }
  }
}

/** Warns about fields that are unknown or ambiguous, or that cancel more than was meant. */
export function doubtOrder(data: Order, known: Known, addWarning: AddError): void {
  const had = known.orders.get(data.code) ?? [];
  const losesAll = had.length > 0 && data.positions.length === 0 && !had.some((id) => data.unread.has(id));
  if (losesAll && (data.status === "p" || data.status === "n")) addWarning("positions", cancelsAll);
  if (!known.salesChannels.has(data.sales_channel)) addWarning("sales_channel", notKnown("sales channel"));
  for (const [index, { tax_rule }] of data.fees.entries()) {
    if (isUnknown(tax_rule, known.taxRules)) addWarning(`fees.${index}.tax_rule`, notKnown(`tax rule ${tax_rule}`));
  }
  const numbers = new Set<number>();
  for (const [index, { positionid, tax_rule }] of data.positions.entries()) {
    const at = `positions.${index}`;
    if (isUnknown(tax_rule, known.taxRules)) addWarning(`${at}.tax_rule`, notKnown(`tax rule ${tax_rule}`));
    if (numbers.has(positionid)) addWarning(`${at}.positionid`, `Positionid ${positionid} occurs twice.`);
    numbers.add(positionid);
  }
}

const cancelsAll =
  "It names no ticket, so every ticket that this order had is canceled. Send all of them to keep them.";

function isUnknown(id: number | null, known: ReadonlySet<number>): boolean {
  return id !== null && !known.has(id);
}

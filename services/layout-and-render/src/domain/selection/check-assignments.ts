import { unknownId } from "@tessera/values";
import type { Assignment } from "./layout.ts";

/** A product and a sales channel that a layout is requested for. */
export type Wanted = Pick<Assignment, "item" | "salesChannel">;

/** The entities that assignments may refer to. */
export interface KnownTargets {
  readonly items: ReadonlySet<number>;
  readonly salesChannels: ReadonlySet<string>;
  /** The assignments of other layouts of the event. */
  readonly others: readonly Assignment[];
}

type Errors = Readonly<Record<string, readonly string[]>>;

/** Returns the errors of each assignment, alone and among the others; a valid one has none. */
export function checkAssignments(wanted: readonly Wanted[], { items, salesChannels, others }: KnownTargets): Errors[] {
  const holders = new Map(others.map((other) => [nameOf(other), other.layout]));
  const seen = new Set<string>();
  return wanted.map((each): Errors => {
    const name = nameOf(each);
    const isRepeated = seen.has(name);
    seen.add(name);
    const holder = holders.get(name);
    return {
      ...(items.has(each.item) ? {} : { item: [unknownId(each.item, "item")] }),
      ...(salesChannels.has(each.salesChannel)
        ? {}
        : { sales_channel: [`Object with identifier=${each.salesChannel} does not exist.`] }),
      ...(isRepeated ? { non_field_errors: ["This product is in the list for this sales channel already."] } : {}),
      ...(holder === undefined || isRepeated
        ? {}
        : { non_field_errors: [`Layout ${holder} is for this product and sales channel.`] }),
    };
  });
}

/** Compares old and new assignments of a layout. */
export function compareAssignments(
  before: readonly Assignment[],
  wanted: readonly Wanted[],
): { readonly gone: readonly Assignment[]; readonly fresh: readonly Wanted[] } {
  const [held, asked] = [new Set(before.map(nameOf)), new Set(wanted.map(nameOf))];
  return {
    gone: before.filter((each) => !asked.has(nameOf(each))),
    fresh: wanted.filter((each) => !held.has(nameOf(each))),
  };
}

function nameOf({ item, salesChannel }: Wanted): string {
  return `${item}/${salesChannel}`;
}

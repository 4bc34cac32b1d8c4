import { type Moment, write } from "./moments.ts";
import { listAddons } from "./products.ts";
import type { Evaluate } from "./view.ts";

const firstEntry: Moment = ({ ticket }) => ticket.scans?.get(ticket.position.id) ?? null;

/** What check-in knows of a ticket. */
export const scans = {
  first_scan: write("shortDateTime", firstEntry),
  checked_in_addons: listAddons((ticket) => ticket.addons.filter(({ id }) => ticket.scans?.has(id) === true)),
} as const satisfies Readonly<Record<string, Evaluate>>;

export function isOfScans(name: string): boolean {
  return Object.hasOwn(scans, name);
}

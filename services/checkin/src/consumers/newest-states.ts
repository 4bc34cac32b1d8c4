import { type Fact, newestPerKey } from "@tessera/kit/bus/consume";
import { parseEntityKey } from "@tessera/protos/topics";
import type { EntityKey } from "../store/keys.ts";

/**
 * Splits facts into the keys of entities that went, and the newest states of
 * those that are there. What went and came again is in both: it is another
 * entity, and the revision of the former says nothing about it.
 */
export function newestStates<F>(facts: readonly Fact<F>[]): { readonly gone: EntityKey[]; readonly changed: F[] } {
  return {
    gone: newestPerKey(facts.filter(({ value }) => value === null)).map(({ key }) => toEntityKey(key)),
    changed: newestPerKey(facts).flatMap(({ value }) => (value === null ? [] : [value])),
  };
}

/** What a tombstone has left of its entity. */
export function toEntityKey(key: string): EntityKey {
  const { organizer, event, id } = parseEntityKey(key);
  return { organizer, event, id: Number(id) };
}

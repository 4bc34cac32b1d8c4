import { notKnown, ofElement, type RecordErrors, refuseEach } from "@tessera/records/validate";
import { firstIdMadeHere } from "@tessera/values";
import type { Known, MediumCode } from "./known.ts";

interface Medium extends MediumCode {
  readonly id: number;
  readonly organizer: string | null;
  readonly linked_orderpositions: readonly { readonly event: string | null; readonly id: number }[];
  /** Whether its link came as `linked_orderposition`. */
  readonly isLinkedByOne: boolean;
}

const madeHere = `Media with ids from ${firstIdMadeHere} on were made here; no record may bring or replace one.`;

/** The natural key of a medium. */
export function mediumKey({ type, identifier }: MediumCode): string {
  return JSON.stringify([type, identifier]);
}

/** Refuses media that conflict with each other or with unchanged ones. */
export function refuseMedia<V extends { readonly data: Medium }>(
  left: readonly V[],
  { organizer, known }: { readonly organizer: string; readonly known: Known },
): RecordErrors<V> {
  const sent = new Set(left.map(({ data }) => data.id));
  const owners = new Map<string, number>();
  for (const [id, medium] of known.media) if (!sent.has(id)) owners.set(mediumKey(medium), id);
  for (const { data } of left) if (!owners.has(mediumKey(data))) owners.set(mediumKey(data), data.id);

  return refuseEach(left, ({ data }, addError) => {
    if (data.id >= firstIdMadeHere) addError("id", madeHere);
    const owner = owners.get(mediumKey(data));
    if (owner !== data.id) addError("identifier", `Medium ${owner} has this identifier.`);
    const addLinkError = (index: number, message: string) => {
      if (data.isLinkedByOne) addError("linked_orderposition", message);
      else addError(`linked_orderpositions.${index}`, ofElement(index, message));
    };
    for (const [index, { event, id }] of data.linked_orderpositions.entries()) {
      const events = known.linkedPositions.get(id) ?? [];
      const exists = event === null ? events.length > 0 : events.includes(event);
      if (!exists) addLinkError(index, notKnown(`position ${id}`));
      else if (event === null && events.length > 1) {
        const form = `{"id": ${id}, "event": …}`;
        addLinkError(index, `Several events have a position ${id}; name its event as ${form}.`);
      }
    }
    if (data.organizer !== null && data.organizer !== organizer) {
      addError("organizer", "This is not the organizer that the record names.");
    }
  });
}

import { PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import type { Topic } from "@tessera/protos/topic";
import { entityKey, topics } from "@tessera/protos/topics";
import type { Scope } from "../domain/scope.ts";

/** A fact about a position, out of what is stored of it. */
export interface PositionFact extends Scope {
  readonly id: number;
  readonly revision: number;
  /** An encoded Position. */
  readonly state: Uint8Array;
  /** An encoded PositionChanged with nothing but `earlier_checkins`. */
  readonly earlierCheckins: Uint8Array | null;
}

/**
 * The topic of positions, fed with stored bytes.
 *
 * A message is the concatenation of its fields, so the state that was encoded to be stored need not be encoded again
 * to be published: that would be a tenth of an import's work.
 */
export const positionChanged: Topic<PositionFact> = {
  ...topics.positionChanged,
  key: ({ organizer, event, id }) => entityKey(organizer, event, id),
  encode({ organizer, event, revision, state, earlierCheckins }) {
    const head = PositionChanged.encode({
      organizer,
      event,
      revision,
      position: undefined,
      earlierCheckins: [],
    }).finish();
    return Buffer.concat([head, positionTag, toVarint(state.length), state, earlierCheckins ?? nothing]);
  },
  decode: () => {
    throw new Error("this topic is only written here");
  },
};

/** Field 4, a message. */
const positionTag = Uint8Array.of((4 << 3) | 2);

const nothing = new Uint8Array();

function toVarint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

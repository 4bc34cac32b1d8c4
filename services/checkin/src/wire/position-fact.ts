import { ReadPosition, ReadPositionFact } from "@tessera/protos/gen/ticketing/checkin/v1/position_facts";
import type { Topic } from "@tessera/protos/topic";
import { topics } from "@tessera/protos/topics";

/** The decoded part of a position's fact. */
export interface PositionFact extends Omit<ReadPositionFact, "position"> {
  readonly position: ReadPosition | undefined;
  /** The encoded position as it arrived, with fields that are not decoded here, and fields of a newer boxoffice. */
  readonly state: Uint8Array;
}

/**
 * The topic of positions, decoded only as far as columns need. The position is stored as it arrived: to decode and
 * encode all of it would be a third of the work of a fact.
 */
export const positionChanged: Topic<PositionFact> = {
  ...topics.positionChanged,
  key: () => {
    throw new Error("this topic is only read here");
  },
  encode: () => {
    throw new Error("this topic is only read here");
  },
  decode(bytes) {
    const { position: state, ...fact } = ReadPositionFact.decode(bytes);
    return { ...fact, state, position: state.length === 0 ? undefined : ReadPosition.decode(state) };
  },
};

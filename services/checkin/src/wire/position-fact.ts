import { ReadPosition, ReadPositionFact } from "@tessera/protos/gen/ticketing/checkin/v1/position_facts";
import type { Topic } from "@tessera/protos/topic";
import { topics } from "@tessera/protos/topics";

/** What is read of a position's fact. */
export interface PositionFact extends Omit<ReadPositionFact, "position"> {
  readonly position: ReadPosition | undefined;
  /** The encoded position as it came, with the fields that are not read here, and those that a newer boxoffice adds. */
  readonly state: Uint8Array;
}

/**
 * The topic of positions, read for what decisions, filters and searches use. The position is stored as it came: to decode
 * all of it and encode it again would be a third of the work that a fact makes here.
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

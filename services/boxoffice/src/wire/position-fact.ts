import { PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { Answer, Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { Topic } from "@tessera/protos/topic";
import { entityKey, topics } from "@tessera/protos/topics";
import { mergeAnswers } from "../domain/gate-answers.ts";
import type { StoredPosition } from "../store/positions.ts";

/**
 * The topic of positions, published from stored bytes.
 *
 * A message is the concatenation of its fields, so the stored state is published as it is: to encode it again would be
 * a tenth of an import's work.
 */
export const positionChanged: Topic<StoredPosition> = {
  ...topics.positionChanged,
  key: ({ organizer, event, id }) => entityKey(organizer, event, id),
  encode({ organizer, event, revision, earlierCheckins, ...position }) {
    const head = PositionChanged.encode({
      organizer,
      event,
      revision,
      position: undefined,
      earlierCheckins: [],
    }).finish();
    const state = encodePosition(position);
    return Buffer.concat([head, positionTag, toVarint(state.length), state, earlierCheckins ?? nothing]);
  },
  decode: () => {
    throw new Error("this topic is only written here");
  },
};

/** Encodes a position with its gate answers; as stored, if it has no gate answers. */
export function encodePosition({ state, gate }: Pick<StoredPosition, "state" | "gate">): Uint8Array {
  if (gate === null) return state;
  const answers = gate.answers.map(({ answer, ...rest }) => ({
    ...rest,
    answer: answer === null ? null : Answer.decode(Buffer.from(answer, "base64")),
  }));
  return Position.encode(mergeAnswers(Position.decode(state), { ...gate, answers })).finish();
}

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

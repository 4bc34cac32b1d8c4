import { PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { topics } from "@tessera/protos/topics";
import { describe, expect, it } from "vitest";
import { positionChanged } from "./position-fact.ts";

const checkin = { id: 1, list: 2, exit: true, at: 1_700_000_000_000_000, autoCheckedIn: true };

describe("positionChanged", () => {
  it.each([0, 1, 127, 128, 300, 20_000])("writes what the topic reads, with a text of %i characters", (length) => {
    const position = Position.decode(
      Position.encode({ ...Position.decode(new Uint8Array()), id: 7, secret: "ü".repeat(length) }).finish(),
    );
    const fact = { organizer: "org", event: "fest", revision: 2 ** 40, position, earlierCheckins: [checkin] };
    const stored = {
      organizer: "org",
      event: "fest",
      id: 7,
      revision: 2 ** 40,
      state: Position.encode(position).finish(),
      gate: null,
      earlierCheckins: PositionChanged.encode({
        organizer: "",
        event: "",
        revision: 0,
        position: undefined,
        earlierCheckins: [checkin],
      }).finish(),
    };
    expect(Buffer.from(positionChanged.encode(stored))).toEqual(Buffer.from(topics.positionChanged.encode(fact)));
    expect(positionChanged.key(stored)).toBe(topics.positionChanged.key(fact));
  });

  it("writes no scans where there are none", () => {
    const bytes = positionChanged.encode({
      organizer: "o",
      event: "e",
      id: 1,
      revision: 1,
      state: new Uint8Array(),
      gate: null,
      earlierCheckins: null,
    });
    expect(topics.positionChanged.decode(bytes).earlierCheckins).toEqual([]);
  });
});

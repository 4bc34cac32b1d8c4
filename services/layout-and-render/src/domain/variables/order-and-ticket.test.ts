import { describe, expect, it } from "vitest";
import { position, ticket } from "../../testing/print-ticket.ts";
import { textsOf } from "../../testing/printed-texts.ts";

describe("[L11.1] order and ticket", () => {
  it("are printed as they are stored", () => {
    const printed = ticket({
      organizer: "Harbour Ltd",
      order: { code: "XJ7PQ", email: "ann@example.org", phone: "+4930123456" },
      position: position({ positionid: 3, pseudonymizationId: "GG89JUJDTA", secret: "abc" }),
      medium: "04AB",
    });
    expect(textsOf(printed)).toMatchObject({
      secret: "abc",
      order: "XJ7PQ",
      positionid: "3",
      order_positionid: "XJ7PQ-3",
      pseudonymization_id: "GG89JUJDTA",
      email: "ann@example.org",
      telephone: "+49 30 123456",
      organizer: "Harbour Ltd",
      medium_identifier: "04AB",
    });
  });

  it("are empty where they are missing", () => {
    expect(textsOf(ticket())).toMatchObject({ email: "", telephone: "", medium_identifier: "" });
  });
});

it("[L11.2] what no record has is empty", () => {
  expect(textsOf(ticket())).toMatchObject({ program_times: "", giftcard_issuance_date: "", giftcard_expiry_date: "" });
});

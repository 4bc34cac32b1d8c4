import { expect } from "vitest";
import { eventData, listData, orderData, positionData, samplesOf } from "../e2e/sample-records.ts";
import type { TestPlatform } from "../e2e/test-platform.ts";

/** What programs that use clients are told by their environment, and the records that they import. */
export interface Journey {
  readonly BASE_URL: string;
  readonly OPERATOR_KEY: string;
  readonly API_KEY: string;
  readonly ORGANIZER: string;
  readonly EVENT: string;
  readonly SECRET: string;
  readonly records: string;
}

/** An event that is over, so that its personal data can be erased, with a question that the gate asks. */
export function journeyOf(organizer: string, { baseUrl, operatorKey }: TestPlatform): Journey {
  const { apiKey, groundwork, ofEvent } = samplesOf(organizer);
  const secret = `ticket-of-${organizer}`;
  const question = { id: 83, question: { en: "Allergies?" }, type: "S", identifier: "ALLERGIES", items: [1] };
  const records = [
    ...groundwork(),
    ofEvent("event", eventData({ live: false, date_from: "2020-01-01T10:00:00Z", date_to: "2020-01-02T10:00:00Z" })),
    ofEvent("question", { ...question, ask_during_checkin: true, required: true }),
    ofEvent(
      "order",
      orderData({ code: "CLIENT1", datetime: "2019-12-01T10:00:00Z", positions: [positionData({ secret })] }),
    ),
    ofEvent("checkin_list", listData()),
  ];
  return {
    ...{ BASE_URL: baseUrl, OPERATOR_KEY: operatorKey, API_KEY: apiKey },
    ...{ ORGANIZER: organizer, EVENT: "sampleconf", SECRET: secret },
    records: records.map((record) => JSON.stringify(record)).join("\n"),
  };
}

/** What every program prints that has come to the end of the journey. */
export const arrived = (journey: Journey) => ({
  accepted: journey.records.split("\n").length,
  voucher: [expect.stringMatching(/^\w+25$/), "25.00"],
  asked: "incomplete",
  scanned: "ok",
  again: "already_redeemed",
  background: true,
  sold: 3,
  tickets: "%PDF-",
  export: "PK",
  erased: "ok",
});

/** A page without anything on it. */
export const uploaded = `%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 595 842]>> endobj
trailer <</Root 1 0 R /Size 4>>
%%EOF
`;

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { type Answer, startTestPlatform, type TestPlatform } from "./test-platform.ts";

const { apiKey, deviceKey, eventPath, groundwork, ofEvent, ofOrganizer } = samplesOf("gates");

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

/** The query of the browser scanner. */
const inFull = "expand=item&expand=subevent&expand=variation&expand=answers.question&expand=addons";

/** What the browser scanner sends with every scan; the scanner library sends more. */
const fromBrowser = { questions_supported: true, canceled_supported: true, ignore_unpaid: false, type: "entry" };

const of = (id: number, changes: object = {}) => positionData({ id, secret: `secret/${id}`, ...changes });
const orderOf = (code: string, ...positions: object[]) => ofEvent("order", orderData({ code, positions }));

describe("a day at the gate", () => {
  let platform: TestPlatform;

  beforeAll(async () => {
    platform = await startTestPlatform();
    platform.keepOutOfLogs(apiKey, deviceKey, "secret/1", "WRISTBAND", "Vegan, please");
    await take(
      ...groundwork(),
      ofEvent("question", {
        id: 7,
        question: { en: "Of age?" },
        type: "B",
        required: true,
        items: [1],
        ask_during_checkin: true,
        show_during_checkin: true,
      }),
      ofEvent("question", {
        id: 8,
        question: { en: "Food" },
        type: "T",
        items: [1],
        ask_during_checkin: true,
        position: 1,
      }),
      ofEvent("question", {
        id: 9,
        question: { en: "Photo" },
        type: "F",
        required: true,
        items: [2],
        ask_during_checkin: true,
      }),
      ofEvent("checkin_list", listData()),
      ofEvent(
        "checkin_list",
        listData({ id: 2, name: "Once", rules: { "<": [{ var: "entries_number" }, 1] }, allow_multiple_entries: true }),
      ),
      orderOf("AAA11", of(1), of(2, { positionid: 2, item: 2, variation: 21, addon_to: 1 })),
      orderOf("BBB22", of(3)),
      ofOrganizer("reusable_medium", {
        id: 1,
        type: "barcode",
        identifier: "WRISTBAND",
        active: true,
        linked_orderpositions: [{ id: 3, event: "sampleconf" }],
      }),
      ofEvent("revoked_secret", { id: 1, secret: "long-ago", created: "2027-12-02T10:00:00Z", position: 3 }),
    );
  });
  afterAll(() => platform.stop());

  async function take(...records: unknown[]): Promise<void> {
    expect(await platform.import(records)).toMatchObject({ rejected: 0, settled: true });
  }

  const scan = (code: string, body: object = {}, { list = 1, query = "" } = {}): Promise<Answer> =>
    platform.request(
      "POST",
      `${eventPath}/checkinlists/${list}/positions/${encodeURIComponent(code)}/redeem/${query}`,
      {
        as: `Device ${deviceKey}`,
        body: { ...fromBrowser, ...body },
      },
    );

  it("[C3.28, C3.37] asks questions, gets answers, admits once, and shows everything", async () => {
    const query = `?${inFull}&untrusted_input=true`;
    const asked = await scan("secret/1", { answers: {} }, { query });
    expect(asked.status).toBe(400);
    expect(asked.body).toMatchObject({
      status: "incomplete",
      require_attention: false,
      checkin_texts: [],
      list: { id: 1, event: "sampleconf", include_pending: false },
      position: { id: 1, item: { name: { en: "Standard ticket" } }, variation: null, subevent: null, seat: null },
      questions: [
        { id: 7, type: "B", required: true, question: { en: "Of age?" }, options: [], hidden: false },
        { id: 8, type: "T", required: false },
      ],
    });
    const answers = { "7": true, "8": "Vegan, please" };
    const admitted = await scan("secret/1", { answers, ignore_unpaid: true }, { query: `?${inFull}` });
    expect(admitted.status).toBe(201);
    expect(admitted.body.position).toMatchObject({
      order: "AAA11",
      order__status: "p",
      answers: [
        { question: { id: 7, type: "B", show_during_checkin: true }, answer: "True" },
        { question: { id: 8 }, answer: "Vegan, please" },
      ],
      addons: [{ id: 2, item: { name: { en: "T-shirt" } }, variation: { value: { en: "S" } } }],
      checkins: [{ list: 1, type: "entry", gate: 7, device_id: 3 }],
    });
    const again = await scan("secret/1", {}, { query });
    expect([again.status, again.body]).toMatchObject([200, { status: "error", reason: "already_redeemed" }]);
  });

  it("keeps the answers of an order that is imported again", async () => {
    const answersOf = async () => {
      const { body } = await platform.request("GET", `${eventPath}/checkinlists/1/positions/1/`, {
        as: `Token ${apiKey}`,
      });
      return (body as { answers: { answer: string }[] }).answers.map(({ answer }) => answer);
    };
    await take(
      orderOf(
        "AAA11",
        of(1, { attendee_name: "New Name" }),
        of(2, { positionid: 2, item: 2, variation: 21, addon_to: 1 }),
      ),
    );
    expect(await answersOf()).toEqual(["True", "Vegan, please"]);
    const answers = [{ question: 8, answer: "Nothing", question_identifier: "8" }];
    await take(orderOf("AAA11", of(1, { answers }), of(2, { positionid: 2, item: 2, variation: 21, addon_to: 1 })));
    expect((await answersOf()).toSorted()).toEqual(["Nothing", "True"]);
  });

  it("accepts a photo as an answer, and returns it to keys with the permission", async () => {
    const { body: upload } = await platform.request("POST", "/api/v1/upload", {
      as: `Device ${deviceKey}`,
      body: png,
      headers: { "content-type": "image/png", "content-disposition": 'attachment; filename="me.png"' },
    });
    expect((await scan("secret/2")).body).toMatchObject({ status: "incomplete", questions: [{ id: 9 }] });
    const foreign = { answers: { "9": "file:00000000-0000-4000-8000-000000000000" } };
    expect((await scan("secret/2", foreign)).body).toMatchObject({ status: "incomplete" });
    const admitted = await scan("secret/2", { answers: { "9": upload.id } });
    expect(admitted.status).toBe(201);
    const url = admitted.body.position.answers[0].answer as string;
    expect(url).toMatch(/\/orderpositions\/2\/answer\/9\/$/);
    const download = async () => {
      // Where links begin with a public address, that may lead elsewhere.
      const address = url.replace(platform.publicUrl, platform.baseUrl);
      const response = await fetch(address, { headers: { authorization: `Token ${apiKey}` } });
      return [response.status, Buffer.from(await response.arrayBuffer()).equals(png)];
    };
    await expect.poll(download).toEqual([200, true]);
  });

  it("[C3.7, C3.10] recognizes wristbands and revoked codes", async () => {
    expect((await scan("long-ago")).body).toMatchObject({ reason: "revoked", position: { id: 3 } });
    const answers = { "7": "true", "8": "" };
    expect((await scan("WRISTBAND", { answers })).body).toMatchObject({ status: "ok", position: { id: 3 } });
    const forced = await scan("long-ago", { force: true, questions_supported: false });
    expect([forced.status, forced.body.status]).toEqual([201, "ok"]);
  });

  it("[C3.26] refuses by the rules of the list, with the reason", async () => {
    // An empty answer admits, and does not count as an answer: the question is asked again.
    const answers = { "8": "" };
    expect((await scan("secret/3", { answers }, { list: 2 })).status).toBe(201);
    const refused = await scan("secret/3", { answers }, { list: 2 });
    expect(refused.body).toMatchObject({
      status: "error",
      reason: "rules",
      reason_explanation: expect.stringMatching(/./),
    });
    const uploaded = await scan("secret/3", { force: true }, { list: 2 });
    expect(uploaded.status).toBe(201);
  });

  it("[R3.40, R3.41, R3.47] admits no ticket a second time that an order loses in one import and another gets in the next", async () => {
    const [stays, moves] = [of(21), of(22, { positionid: 2 })];
    await take(orderOf("SPL1T", stays, moves));
    const answers = { "7": true, "8": "" };
    expect((await scan("secret/22", { answers })).status).toBe(201);
    await take(orderOf("SPL1T", stays));
    expect((await scan("secret/22", { answers })).body).toMatchObject({ status: "error", reason: "invalid" });
    await take(orderOf("SPL2T", of(22, { secret: "secret/22-of-another-order" })));
    const again = await scan("secret/22-of-another-order", { answers });
    expect(again.body).toMatchObject({ status: "error", reason: "already_redeemed", position: { order: "SPL2T" } });
  });

  it("[R3.41, R3.47] admits no ticket a second time whose order is removed directly before another brings it", async () => {
    await take(orderOf("G0NE1", of(23), of(24, { positionid: 2 })));
    const answers = { "7": true, "8": "" };
    expect((await scan("secret/24", { answers })).status).toBe(201);
    const removal = { ...ofEvent("order", { code: "G0NE1" }), deleted: true };
    await take(removal, orderOf("G0NE2", of(24, { secret: "secret/24-of-another-order" })));
    const again = await scan("secret/24-of-another-order", { answers });
    expect(again.body).toMatchObject({ status: "error", reason: "already_redeemed", position: { order: "G0NE2" } });
    expect((await scan("secret/23", { answers })).body).toMatchObject({ status: "error", reason: "invalid" });
  });

  describe("the scanner library", () => {
    /** The upload of a scan that was decided offline: whole seconds, forced, its questions answered long ago. */
    const uploaded = (nonce: string, type: string, datetime: string) => ({
      force: true,
      questions_supported: false,
      canceled_supported: true,
      ignore_unpaid: false,
      source_type: "barcode",
      use_order_locale: false,
      answers: {},
      datetime,
      nonce,
      type,
    });

    it("[C3.32, C3.34] uploads entry, exit and entry of one second, and empties every queue", async () => {
      await take(orderOf("CCC33", of(4)));
      const second = "2027-12-27T10:00:00Z";
      for (const [nonce, type] of [
        ["a", "entry"],
        ["b", "exit"],
        ["c", "entry"],
      ] as const) {
        const { status, body } = await scan("secret/4", uploaded(nonce, type, second), { query: "?pdf_data=true" });
        expect([status, body.status]).toEqual([201, "ok"]);
      }
      // The answer to the last one was lost.
      const again = await scan("secret/4", uploaded("c", "entry", second));
      expect(again.body).toMatchObject({
        status: "ok",
        require_attention: false,
        checkin_texts: [],
        position: {
          id: 4,
          order: "CCC33",
          positionid: 1,
          item: 1,
          attendee_name: "Peter Zwiebelhuber",
          seat: null,
          order__locale: "en",
          checkins: [{ type: "entry" }, { type: "exit" }, { type: "entry" }],
        },
      });
      const unknown = await scan("nobody's", uploaded("d", "entry", second));
      expect([unknown.status, unknown.body]).toMatchObject([404, { status: "error", reason: "invalid" }]);
    });

    it("searches, and reports scans that it has refused by itself", async () => {
      const found = await platform.request(
        "GET",
        `${eventPath}/checkinlists/1/positions/?search=zwiebel&ignore_status=true&page=1`,
        { as: `Device ${deviceKey}` },
      );
      const [first] = found.body.results as Record<string, unknown>[];
      for (const field of ["item", "variation", "attendee_name", "seat", "order", "positionid", "secret", "checkins"]) {
        expect(first, field).toHaveProperty(field);
      }
      expect(first).toMatchObject({ order__status: "p", require_attention: false });
      const told = await platform.request("POST", `${eventPath}/checkinlists/1/failed_checkins/`, {
        as: `Device ${deviceKey}`,
        headers: { "x-idempotency-key": "told-once" },
        body: {
          error_reason: "unapproved",
          raw_barcode: "binary:AAEC",
          datetime: "2027-12-27T10:00:05Z",
          type: "entry",
          position: 4,
          item: 1,
          variation: null,
          subevent: null,
          nonce: "e",
        },
      });
      expect(told.status).toBe(201);
    });
  });
});

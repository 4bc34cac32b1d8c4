import { aPdf, aPng } from "@tessera/sent-files/testing/sample-files";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakePlatform, fakePlatform, prepareImport, type TestImport } from "./testing/run-import.ts";
import { fillStub, inEvent, stubEvent, stubOrder, stubOrganizer } from "./testing/stub-event.ts";
import { type Data, type StubPretix, sendJson, startStubPretix } from "./testing/stub-pretix.ts";

const orders = inEvent("orders/");

describe("what an import takes along", () => {
  let stub: StubPretix;
  let platform: FakePlatform;
  let imports: TestImport;

  beforeEach(async () => {
    stub = await startStubPretix();
    fillStub(stub);
    platform = fakePlatform();
    imports = await prepareImport(stub, platform);
  });
  afterEach(async () => {
    await stub.stop();
    await imports.remove();
  });

  it("is a series with its dates and their seats, also of dates that have not changed", async () => {
    fillStub(stub, { event: { has_subevents: true } });
    const date = (id: number, overrides: Data = {}) => ({
      id,
      name: { en: `Night ${id}` },
      date_from: "2027-12-27T18:00:00Z",
      seating_plan: null,
      last_modified: "2027-11-01T10:00:00Z",
      ...overrides,
    });
    stub.lists.set(inEvent("subevents/"), [date(1, { seating_plan: 4 }), date(2), date(3)]);
    const seats = inEvent("subevents/1/seats/");
    stub.lists.set(
      seats,
      ["A1", "A2", "A3"].map((guid, index) => ({ id: index + 1, subevent: 1, seat_guid: guid })),
    );
    await imports.run();
    expect(platform.of("subevent")).toHaveLength(3);
    expect(platform.of("seat").map(({ seat_guid }) => seat_guid)).toEqual(["A1", "A2", "A3"]);
    const kinds = platform.records.map(({ kind }) => kind);
    expect(kinds.indexOf("subevent")).toBeLessThan(kinds.indexOf("quota"));

    platform.forget();
    stub.now = "2027-12-20T12:00:00Z";
    await imports.run();
    expect(platform.of("subevent")).toEqual([]);
    expect(platform.of("seat")).toHaveLength(3);

    platform.forget();
    const changed = { seating_plan: null, last_modified: "2027-12-20T12:10:00Z" };
    stub.lists.set(inEvent("subevents/"), [date(1, changed), date(2)]);
    await imports.run();
    expect(platform.of("subevent")).toMatchObject([{ id: 1, seating_plan: null }]);
    expect(platform.of("seat")).toEqual([]);
  });

  it("is an event with a seating plan", async () => {
    fillStub(stub, { event: { seating_plan: 4 } });
    stub.lists.set(inEvent("seats/"), [{ id: 1, seat_guid: "A1" }]);
    await imports.run();
    expect(platform.of("seat")).toEqual([{ id: 1, seat_guid: "A1" }]);
    expect(stub.asked().some((path) => path.includes("subevents"))).toBe(false);
  });

  it("[R1.18, S7.3] is the files that customers uploaded, and nothing that they only named", async () => {
    const address = (question: number, position = 5, origin = stub.url) =>
      `${origin}/api/v1/organizers/${stubOrganizer}/events/${stubEvent}/orderpositions/${position}/answer/${question}/`;
    const answers = [
      { question: 1, answer: address(1), options: [] },
      { question: 2, answer: address(2), options: [] },
      { question: 3, answer: address(1), options: [] },
      { question: 4, answer: address(4, 6), options: [] },
      { question: 5, answer: "https://intranet.example.org/secret", options: [] },
      { question: 6, answer: address(6, 5, "https://elsewhere.example.org"), options: [] },
      { question: 7, answer: address(7), options: [] },
      { question: 8, answer: "a text", options: [] },
      { question: 9, answer: address(9), options: [] },
    ];
    const [position] = stubOrder("AAA")["positions"] as Data[];
    stub.lists.set(orders, [stubOrder("AAA", { positions: [{ ...position, id: 5, answers }] })]);
    stub.lists.set(inEvent("questions/"), [{ id: 1, type: "F", question: { en: "Photo" }, items: [1] }]);
    stub.files.set(inEvent("orderpositions/5/answer/1/"), {
      type: "image/png",
      body: aPng(),
      name: "zwiebel.png",
    });
    stub.files.set(inEvent("orderpositions/5/answer/7/"), {
      type: "image/png",
      body: Buffer.alloc(10 * 1024 * 1024 + 1),
    });
    stub.files.set(inEvent("orderpositions/5/answer/9/"), {
      type: "application/pdf",
      body: aPdf({ catalog: "/OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >>" }),
    });
    stub.interfere = ({ path }, response) => {
      const isBroken = path.endsWith("/answer/2/");
      if (isBroken) sendJson(response, { status: 410, body: {} });
      return isBroken;
    };
    const { summary, rejected } = await imports.run();

    const [sent] = platform.of("order");
    expect(((sent?.["positions"] ?? []) as Data[])[0]?.["answers"]).toEqual([
      {
        ...answers[0],
        answer: `data:image/png;base64,${aPng().toString("base64")}`,
        file_name: "zwiebel.png",
      },
      answers[2],
      answers[3],
      answers[4],
      answers[7],
    ]);
    expect(platform.of("question")).toHaveLength(1);
    expect(rejected).toBe(0);
    expect(summary).toContain("sampleconf: the file of position 5, question 2 (HTTP status 410)");
    expect(summary).toContain("question 6 (it lies at https://elsewhere.example.org");
    expect(summary).toContain("question 7 (more than 10240 KiB)");
    expect(summary).toContain("question 9 (The PDF holds JavaScript");
    expect(summary).not.toContain("zwiebel");
    expect(stub.asked().filter((path) => path.includes("/answer/"))).toEqual(
      [1, 2, 7, 9].map((question) => inEvent(`orderpositions/5/answer/${question}/`)),
    );
  });

  it("[R1.31] is orders whose names pretix has erased, with nothing in place of the name", async () => {
    const [position] = stubOrder("AAA")["positions"] as Data[];
    const erased = { ...position, attendee_name: null, attendee_name_parts: { _shredded: true } };
    const parts = { full_name: "Ada Quillfeather", _scheme: "full" };
    const kept = { ...position, id: 6, positionid: 2, secret: "sixth", attendee_name_parts: parts };
    stub.lists.set(orders, [stubOrder("AAA", { positions: [erased, kept] })]);
    await imports.run();
    const [sent] = platform.of("order");
    expect(((sent?.["positions"] ?? []) as Data[]).map((each) => each["attendee_name_parts"])).toEqual([{}, parts]);
  });

  it.each([500, 403])(
    "waits for a file that answers %s now: without it, an order would lose what it had",
    async (status) => {
      const address = `${stub.url}/api/v1/organizers/${stubOrganizer}/events/${stubEvent}/orderpositions/5/answer/1/`;
      const [position] = stubOrder("AAA")["positions"] as Data[];
      const answers = [{ question: 1, answer: address, options: [] }];
      stub.lists.set(orders, [stubOrder("AAA", { positions: [{ ...position, id: 5, answers }] })]);
      stub.files.set(inEvent("orderpositions/5/answer/1/"), { type: "image/png", body: aPng() });
      stub.interfere = ({ path }, response) => {
        const isFile = path.includes("/answer/");
        if (isFile) sendJson(response, { status, body: {} });
        return isFile;
      };
      await expect(imports.run()).rejects.toMatchObject({ code: "file_unavailable" });
      expect(platform.of("order")).toEqual([]);
      stub.interfere = () => false;
      await imports.run();
      expect(platform.of("order")).toHaveLength(1);
    },
  );

  it("[R1.19, S7.4] is ticket layouts, with the background in them", async () => {
    const pdf = Buffer.from("%PDF-1.7 something");
    stub.files.set("/media/pub/back.pdf", { type: "application/octet-stream", body: pdf });
    stub.files.set("/media/pub/page.pdf", { type: "text/html", body: Buffer.from("<html>") });
    const element = {
      type: "textarea",
      left: "-2.5",
      bottom: "10.0",
      fontsize: "12",
      rotation: "-90",
      text: "-3",
      width: -4,
    };
    const layout = (id: number, background: string | null) => ({
      id,
      name: "L",
      default: false,
      layout: [element],
      background,
    });
    stub.lists.set(inEvent("ticketlayouts/"), [
      layout(1, `${stub.url}/media/pub/back.pdf`),
      layout(2, `${stub.url}/static/pretixpresale/pdf/ticket_default_a4.4f2e9c1b.pdf`),
      layout(3, null),
      layout(4, `${stub.url}/media/pub/page.pdf`),
      layout(5, "http://10.0.0.1/inside.pdf"),
      layout(6, `${stub.url}/media/pub/none.pdf`),
    ]);
    stub.interfere = ({ path }, response) => {
      const isMissing = path.endsWith("/none.pdf");
      if (isMissing) sendJson(response, { status: 404, body: {} });
      return isMissing;
    };
    stub.lists.set(inEvent("ticketlayoutitems/"), [{ id: 1, layout: 1, item: 1, sales_channel: "web" }]);
    const { summary } = await imports.run();
    const layouts = platform.of("ticket_layout");
    expect(layouts.map(({ background }) => background)).toEqual([
      `data:application/pdf;base64,${pdf.toString("base64")}`,
      null,
      null,
      null,
      null,
      null,
    ]);
    expect(layouts[0]?.["layout"]).toEqual([element]);
    expect(platform.of("ticket_layout_item")).toHaveLength(1);
    expect(summary).toContain("the background of ticket layout 4 (it is no PDF file)");
    expect(summary).toContain("the background of ticket layout 5 (it lies at http://10.0.0.1)");
    expect(summary).toContain("the background of ticket layout 6 (HTTP status 404)");
    // Public files are fetched without credentials.
    const media = stub.requests.filter(({ path }) => path.startsWith("/media/"));
    expect(media.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined, undefined]);
    expect(stub.asked().some((path) => path.includes("ticket_default"))).toBe(false);
  });

  it.each([503, 401])(
    "[R1.28] leaves a layout as it is on the platform while its background answers %s, and brings it the next time",
    async (status) => {
      stub.files.set("/media/pub/back.pdf", { type: "application/pdf", body: Buffer.from("%PDF-1.7 something") });
      const background = `${stub.url}/media/pub/back.pdf`;
      stub.lists.set(inEvent("ticketlayouts/"), [
        { id: 1, name: "A", default: true, layout: [], background },
        { id: 2, name: "B", default: false, layout: [], background: null },
      ]);
      stub.interfere = ({ path }, response) => {
        const isFile = path.startsWith("/media/");
        if (isFile) sendJson(response, { status, body: {} });
        return isFile;
      };
      const { summary } = await imports.run();
      expect(platform.of("ticket_layout").map(({ id }) => id)).toEqual([2]);
      expect(summary).toContain("sampleconf: ticket layout 1, whose background cannot be read now");
      platform.forget();
      stub.interfere = undefined;
      await imports.run();
      expect(platform.of("ticket_layout")).toMatchObject([
        { id: 1, background: expect.stringMatching(/^data:/) },
        { id: 2, background: null },
      ]);
    },
  );

  it("[R1.20] is less where pretix has less, and the summary says so", async () => {
    for (const path of ["ticketlayouts/", "ticketlayoutitems/", "blockedsecrets/"]) stub.lists.delete(inEvent(path));
    stub.interfere = ({ path }, response) => {
      const isForbidden = path === `${stubOrganizer}/reusablemedia/`;
      if (isForbidden) sendJson(response, { status: 403, body: {} });
      return isForbidden;
    };
    const { summary } = await imports.run();
    expect(summary).toContain("sampleconf: blockedsecrets/");
    expect(summary).toContain("organizer.reusablemedia:read");
    expect(platform.of("event")).toHaveLength(1);
  });
});

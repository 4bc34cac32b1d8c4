import { hash, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PDFDocument, rgb } from "@cantoo/pdf-lib";
import { diskFiles } from "@tessera/engines/files/disk";
import { implement } from "@tessera/kit/rpc";
import {
  type DraftLayout,
  PreviewFormat,
  type PreviewLayoutRequest,
} from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import { FirstEntries } from "@tessera/protos/services";
import { collect } from "@tessera/testkit/files-contract";
import { readPdf, readQrCode } from "@tessera/testkit/read-pdf";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { layoutDatabase } from "../testing/database.ts";
import { at } from "../testing/print-ticket.ts";
import { sell } from "../testing/sold-tickets.ts";
import { place, startLayout } from "../testing/start-layout.ts";

const names = ["Ann Lee", "Bo Wu", "Maximiliane-Charlotte von und zu Hohenlohe-Waldenburg-Schillingsfürst"];
const boxoffice = sell(
  names.map((attendeeName, index) => ({ id: index + 1, secret: `${index + 1}`.repeat(20), attendeeName })),
);
/** The positions that check-in was asked for; ticket 2 has entered. */
let askedForScans: (readonly number[])[] = [];
const firstEntries = implement(FirstEntries, {
  findFirstEntries: async ({ positions }) => {
    askedForScans.push(positions);
    return { scanned: [{ position: 2, firstEntryAt: at("2027-06-12T18:30:00Z") }] };
  },
});

const { db } = await layoutDatabase();
const directory = await mkdtemp(join(tmpdir(), "tessera-previews-"));
const files = diskFiles({ directory });
const service = await startLayout(db, { files, boxoffice: [boxoffice.peer], checkin: [firstEntries] });
beforeAll(async () => {}, 60_000);
afterAll(async () => {
  await service.close();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(async () => {
  askedForScans = [];
  await service.reset();
  await service.prepareEvent();
});

const text = (content: string, more: object = {}) => ({
  ...{ type: "textcontainer", page: 1, left: 10, bottom: 10, width: 60, height: 10, content },
  ...{ fontsize: 12, fontfamily: "Open Sans", bold: false, italic: false, align: "left", color: [0, 0, 0] },
  ...{ verticalalign: "top", ...more },
});
const code = (more: object = {}) => ({
  type: "barcodearea",
  left: 10,
  bottom: 40,
  size: 50,
  content: "secret",
  ...more,
});

const none: DraftLayout = { background: undefined, withoutBackground: false };
const draftOf = (elements: readonly object[], more: Partial<DraftLayout> = {}): DraftLayout => ({
  ...none,
  elements: JSON.stringify(elements),
  ...more,
});

function preview(draft: Partial<DraftLayout>, more: Partial<PreviewLayoutRequest> = {}) {
  const request = { ...place, draft: { ...none, ...draft }, format: PreviewFormat.PDF, dpi: 150, page: 1, ...more };
  return service.rendering.previewLayout(request);
}
const textsOf = async (content: Uint8Array) => {
  const { pages } = await readPdf(content);
  // Codes have an invisible text.
  return pages.map(({ texts }) => texts.map((each) => each.text).filter((each) => !each.startsWith("{")));
};

/** Uploads a PDF whose pages have these widths and heights in millimetres, as the gateway stores it. */
async function upload(...sizes: readonly (readonly [number, number])[]) {
  const document = await PDFDocument.create();
  for (const [width, height] of sizes) document.addPage([(width * 72) / 25.4, (height * 72) / 25.4]);
  return store(Buffer.from(await document.save()));
}

async function store(bytes: Buffer) {
  const [id, contentType] = [randomUUID(), "application/pdf"];
  await files.put(`uploads/${id}`, bytes, { contentType });
  return { upload: id, contentType, size: bytes.length, sha256: hash("sha256", bytes) };
}

const wrong = (fields: object) => ({ kind: "invalid", code: "invalid_draft", fields });

describe("a preview", () => {
  it("[L45.1] prints a ticket of sample data in the language of the event, and reads no other", async () => {
    const { content, warnings } = await preview(
      draftOf([
        text("event_name"),
        text("attendee_name", { bottom: 30 }),
        text("itemvar", { bottom: 50 }),
        code({ bottom: 70 }),
      ]),
    );
    expect([await textsOf(content), warnings]).toEqual([
      [expect.arrayContaining(["Hafenfest", "Ada Lovelace", "Day pass"])],
      [],
    ]);
    expect(await readQrCode(content)).toMatch(/^[a-z0-9]{40}$/);
    expect(boxoffice.asked.at(-1)).toMatchObject({ ...place, positions: [], newest: 1 });
  });

  it("[L45.1] prints the ticket that is named", async () => {
    const { content } = await preview(draftOf([text("attendee_name"), code()]), { position: 2 });
    expect(await textsOf(content)).toEqual([["Bo Wu"]]);
    expect(await readQrCode(content)).toBe("2".repeat(20));
  });

  it("[L14.7] prints when the ticket that is named entered, and asks for that where it is printed", async () => {
    const scanned = draftOf([text("first_scan")]);
    const printed = async (position?: number) =>
      textsOf((await preview(scanned, position === undefined ? {} : { position })).content);
    expect(await printed(2)).toEqual([["2027-06-12 20:30"]]);
    expect(await printed(1)).toEqual([[]]);
    expect(await printed()).toEqual([["12.06.2027 21:00"]]);
    await preview(draftOf([text("order")]), { position: 2 });
    expect(askedForScans).toEqual([[2], [1]]);
  });

  it("[L45.2] is of the stored layout, of the default, or of the built-in design", async () => {
    expect((await textsOf((await preview({})).content)).flat()).toContain("Hafenfest");
    const one = await service.create({ elements: JSON.stringify([text("organizer")]) });
    await service.create({ elements: JSON.stringify([text("order")]), isDefault: true });
    expect(await textsOf((await preview({})).content)).toEqual([["SAMPL"]]);
    expect(await textsOf((await preview({ layout: one.id })).content)).toEqual([["Organizer"]]);
  });

  it("[L45.2] has sent elements and a sent background in place of the stored ones", async () => {
    const background = await upload([100, 80], [50, 40]);
    const { id } = await service.create({ elements: JSON.stringify([text("organizer")]), background });
    const sizesOf = async (content: Uint8Array) =>
      (await readPdf(content)).pages.map(({ width, height }) => [
        Math.round((width * 25.4) / 72),
        Math.round((height * 25.4) / 72),
      ]);
    const changed = (await preview(draftOf([text("order")], { layout: id }))).content;
    expect([await sizesOf(changed), (await textsOf(changed))[0]]).toEqual([
      [
        [100, 80],
        [50, 40],
      ],
      ["SAMPL"],
    ]);
    expect(await sizesOf((await preview({ layout: id, withoutBackground: true })).content)).toEqual([[210, 297]]);
    expect(await sizesOf((await preview({ layout: id, background: await upload([70, 70]) })).content)).toEqual([
      [70, 70],
    ]);
    expect(await sizesOf((await preview(draftOf([text("order")]))).content)).toEqual([[210, 297]]);
  });

  it("[L45.3] stores nothing, and leaves the upload where it is", async () => {
    const background = await upload([100, 80]);
    const before = await collect(files.list(""));
    await preview(draftOf([text("order")], { background }), { format: PreviewFormat.PNG });
    expect(await collect(files.list(""))).toEqual(before);
    expect(await service.list()).toEqual([]);
  });

  it("[L45.4] warns of what cannot be printed as it should be", async () => {
    const { warnings } = await preview(draftOf([text(""), text("organizer", { autoresize: true, height: 0.2 })]));
    expect(warnings).toEqual([expect.stringContaining("Element 1"), expect.stringContaining("does not fit")]);
  });

  it("[L46.1] is a PNG of a page, with as many dots per inch as were asked for", async () => {
    const background = await upload([100, 80], [50.8, 25.4]);
    const draft = draftOf([text("order"), text("organizer", { page: 2, bottom: 5 })], { background });
    const { content } = await preview(draft, { format: PreviewFormat.PNG, dpi: 100, page: 2 });
    const png = Buffer.from(content);
    expect(png.subarray(0, 8).toString("hex")).toBe("89504e470d0a1a0a");
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([200, 100]);
  });

  it("[L46.2, L47.1] refuses pages that there are not, and pictures of more than 25 million pixels", async () => {
    await expect(preview({}, { format: PreviewFormat.PNG, page: 2 })).rejects.toMatchObject(
      wrong({ page: ["The ticket has one page."] }),
    );
    await expect(preview({}, { format: PreviewFormat.PNG, dpi: 600 })).rejects.toMatchObject(
      wrong({ dpi: [expect.stringContaining("34.8 million pixels; at most 25")] }),
    );
  });

  it("[L47.1] names every wrong field at once, of other events, too", async () => {
    await service.prepareEvent({ event: "other" });
    const foreign = await service.create({}, { ...place, event: "other" });
    const draft = { ...draftOf([]), layout: foreign.id, background: await store(Buffer.from("%PDF-1.7 broken")) };
    await expect(preview(draft, { position: 99 })).rejects.toMatchObject(
      wrong({
        layout: [`Invalid id "${foreign.id}": this event has no such layout.`],
        position: ['Invalid id "99": this event has no such ticket, or it was canceled.'],
        background: ["This file cannot be read as a PDF."],
      }),
    );
    const gone = { ...(await upload([10, 10])), upload: randomUUID() };
    await expect(preview({ background: gone })).rejects.toMatchObject(
      wrong({ background: ["You have sent no file of this id within a day."] }),
    );
  });
});

describe("what is found in a layout", () => {
  const lint = (draft: DraftLayout, { mayReadTickets = true } = {}) =>
    service.rendering.lintLayout({ ...place, draft, mayReadTickets });
  const codesOf = async (draft: DraftLayout) =>
    (await lint(draft)).findings.map(({ element, code: found }) => [element, found]);

  it("[L48.1] is nothing in the built-in design", async () => {
    expect(await lint(none)).toEqual({ findings: [], tickets: 3 });
  });

  it("[L48.7] is nothing in a layout without elements, whatever its background leaves of the built-in design", async () => {
    const { id } = await service.create({ background: await upload([40, 40]) });
    expect(await codesOf({ ...none, layout: id })).toEqual([]);
    expect(await codesOf(draftOf([], { layout: id }))).toEqual([]);
  });

  it("[L48.2] is what has no size, no page, or sticks out of the background", async () => {
    const background = await upload([100, 80]);
    const elements = [
      text("order"),
      text("order", { left: 50 }),
      text("order", { page: 2 }),
      text("order", { height: 0 }),
    ];
    expect(await codesOf(draftOf(elements, { background }))).toEqual([
      [1, "outside_page"],
      [2, "no_such_page"],
      [3, "no_size"],
    ]);
  });

  it("[L48.3] is a name that no variable and no font has, also in a text", async () => {
    const elements = [
      text("attendee_nam"),
      text("other", { text: "{order} {ordr}" }),
      text("other_i18n", { text_i18n: { en: "{question_DIET}", de: "{question_PHOTO}" } }),
      text("meta:city"),
      text("meta:town"),
      text("order", { fontfamily: "Papyrus" }),
      { type: "imagearea", left: 1, bottom: 1, width: 5, height: 5, content: "question_PHOTO" },
      { type: "imagearea", left: 1, bottom: 1, width: 5, height: 5, content: "question_DIET" },
    ];
    expect(await codesOf(draftOf(elements))).toEqual([
      [0, "unknown_variable"],
      [1, "unknown_variable"],
      [2, "unknown_variable"],
      [4, "unknown_variable"],
      [5, "unknown_font"],
      [7, "unknown_variable"],
    ]);
  });

  it("[L48.4] is a code that is too small for the longest secret, or that lies on another one", async () => {
    const elements = [code({ size: 12 }), code({ left: 100 }), code({ left: 149 }), code({ left: 100, bottom: 120 })];
    expect(await codesOf(draftOf(elements))).toEqual([
      [0, "code_too_small"],
      [2, "overlapping_codes"],
    ]);
  });

  it("[L48.5] is a text of any ticket that does not fit its box, if tickets may be read", async () => {
    const draft = draftOf([
      code({ left: 100 }),
      text("attendee_name", { width: 40, height: 6 }),
      text("attendee_name", { width: 40, height: 6, bottom: 100, autoresize: true }),
    ]);
    expect(await lint(draft)).toEqual({
      findings: [{ element: 1, code: "text_too_long", message: expect.any(String) }],
      tickets: 3,
    });
    expect(await lint(draft, { mayReadTickets: false })).toEqual({ findings: [], tickets: 0 });
    expect(boxoffice.asked.at(-1)).toMatchObject({ newest: 1 });
  });

  it("[L48.5, L14.7] is a time of a scan that does not fit its box", async () => {
    const small = (content: string) => draftOf([text(content, { width: 20, height: 5 })]);
    expect(await codesOf(small("first_scan"))).toEqual([[0, "text_too_long"]]);
    expect(await codesOf(small("order"))).toEqual([]);
    expect(askedForScans).toEqual([[1, 2, 3]]);
  });

  it("[L48.9] is what prints nothing, or cannot be seen", async () => {
    const white = { color: [255, 255, 255, 1] };
    const elements = [text("other"), text("order", white), code({ ...white })];
    const bare = await codesOf(draftOf(elements));
    expect(bare).toEqual([
      [0, "no_text"],
      [1, "text_too_light"],
      [2, "code_too_light"],
    ]);
    const background = await upload([200, 200]);
    expect(await codesOf(draftOf(elements, { background }))).toEqual(bare.filter(([element]) => element !== 1));
  });

  it("[L48.9] is a code on a dark place of the background", async () => {
    const document = await PDFDocument.create();
    const page = document.addPage([500, 500]);
    page.drawRectangle({ x: 0, y: 0, width: 250, height: 500, color: rgb(0.05, 0.1, 0.3) });
    const background = await store(Buffer.from(await document.save()));
    const sized = { size: 40, bottom: 50 };
    const elements = [
      code({ ...sized, left: 5 }),
      code({ ...sized, left: 110 }),
      code({ ...sized, left: 60, bottom: 110 }),
    ];
    expect(await codesOf(draftOf(elements, { background }))).toEqual([
      [0, "ground_too_dark"],
      [2, "ground_too_dark"],
    ]);
    expect(await codesOf(draftOf([code({ ...sized, left: 5 })]))).toEqual([]);
  });

  it("[L48.6] has nothing of any ticket in its messages", async () => {
    const { findings } = await lint(draftOf([text("attendee_name", { width: 10, height: 4 }), code({ size: 5 })]));
    const messages = findings.map(({ message }) => message).join();
    expect(findings).toHaveLength(2);
    for (const secret of [...names, "1111"]) expect(messages).not.toContain(secret);
  });

  it("[L47.1] names every wrong field", async () => {
    await expect(lint({ ...none, layout: 5 })).rejects.toMatchObject(
      wrong({ layout: ['Invalid id "5": this event has no such layout.'] }),
    );
  });
});

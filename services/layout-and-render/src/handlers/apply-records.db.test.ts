import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/files/disk";
import type { Files } from "@tessera/kit/files/files";
import { sql } from "@tessera/kit/pg/sql";
import { fileWith } from "@tessera/sent-files/testing/sample-files";
import { collect } from "@tessera/testkit/files-contract";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { layoutDatabase } from "../testing/database.ts";
import { place, type RunningLayout, startLayout } from "../testing/start-layout.ts";

let directory: string;
let files: Files;
let service: RunningLayout;

const { database } = await layoutDatabase();
afterAll(() => database.drop());

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-layouts-"));
  files = diskFiles({ directory });
  service = await startLayout(database.open("layout"), { files });
  await service.reset();
  await service.prepareEvent();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

interface Sent {
  readonly kind: string;
  readonly data: object;
  readonly deleted?: boolean;
  readonly event?: string;
}

const layout = (data: object = {}): Sent => ({
  kind: "ticket_layout",
  data: { id: 1, name: "A", layout: [], ...data },
});
const assignment = (data: object = {}): Sent => ({
  kind: "ticket_layout_item",
  data: { id: 1, layout: 1, item: 1, sales_channel: "web", ...data },
});
const removed = (kind: string, id: number): Sent => ({ kind, data: { id }, deleted: true });
const pdf = (mark: string) => `data:application/pdf;base64,${fileWith("application/pdf", mark).toString("base64")}`;

/** Applies records as the gateway does; returns errors or warnings by line. */
async function apply(...sent: readonly Sent[]): Promise<Record<number, Record<string, string[]>>> {
  const { rejected, warned } = await service.records.applyRecords({
    records: sent.map(({ kind, data, deleted = false, event = place.event }, index) => ({
      ...{ line: index + 1, kind, organizer: place.organizer, event, deleted },
      data: Buffer.from(JSON.stringify(data)),
    })),
  });
  return Object.fromEntries(
    [...rejected, ...(warned?.records ?? [])].map(({ line, errors }) => [
      line,
      Object.fromEntries(errors.map(({ field, messages }) => [field, messages])),
    ]),
  );
}

const rows = () => service.db.many(sql`select xmin::text as version, layout.* from layout order by id`);
const assignments = async () =>
  (await service.layouts.listAssignments({ ...place, page: 1, pageSize: 50 })).assignments;
const keys = async () => (await collect(files.list("backgrounds/"))).map(({ key }) => key);

describe("a layout that comes as a record", () => {
  const element = { type: "poweredby", left: -2.5, bottom: "1.50", size: 20, content: "dark" };

  it("[L7.1, R4.1] keeps its id, and is as it was sent", async () => {
    expect(await apply(layout({ id: 5, name: "VIP", default: true, layout: [element] }))).toEqual({});
    expect(await service.list()).toEqual([
      {
        ...{ id: 5, name: "VIP", isDefault: true, elements: JSON.stringify([element]) },
        ...{ background: undefined, itemAssignments: [] },
      },
    ]);
  });

  it("[R1.19] has negative numbers where they were texts", async () => {
    const sent = { ...element, left: "-2.5", bottom: "-1" };
    expect(await apply(layout({ layout: [sent, { ...sent, left: "--1" }] }))).toEqual({
      1: { "layout.1.left": [expect.any(String)] },
    });
    expect(await service.list()).toMatchObject([
      { elements: JSON.stringify([{ ...element, left: -2.5, bottom: -1 }]) },
    ]);
  });

  it("[L7.1, R5.1] changes nothing when it is sent again, not even the address of its background", async () => {
    const sent = [layout({ default: true, background: pdf("a") }), assignment()];
    await apply(...sent);
    const before = [await rows(), await assignments()];
    expect(await apply(...sent)).toEqual({});
    expect([await rows(), await assignments()]).toEqual(before);
  });

  it("[L7.1, R5.2] is replaced, and takes a background or loses it", async () => {
    await apply(layout({ background: pdf("a") }));
    const [first] = await service.list();
    await apply(layout({ name: "B", background: pdf("b") }));
    const [second] = await service.list();
    expect(second).toMatchObject({ name: "B", background: expect.stringMatching(/^[0-9a-f]{40}$/) });
    expect(second?.background).not.toBe(first?.background);
    const { fileKey } = await service.layouts.findBackground({ ...place, background: second?.background ?? "" });
    expect(await keys()).toContain(fileKey);
    await apply(layout());
    expect(await service.list()).toMatchObject([{ name: "A", background: undefined }]);
  });

  it("[L7.1, R2.6] is removed, which may be repeated", async () => {
    await apply(layout(), assignment());
    expect(await apply(removed("ticket_layout", 1))).toEqual({});
    expect(await apply(removed("ticket_layout", 1))).toEqual({});
    expect([await service.list(), await assignments()]).toEqual([[], []]);
  });

  it("[L7.2] is taken without what a client may not send either, each mistake named", async () => {
    expect(
      await apply(
        layout({ name: [] }),
        layout({ id: 2, layout: [{ ...element, left: "2,5" }, element] }),
        layout({ id: 3, layout: null }),
        layout({ id: 4, layout: [5], background: "https://example.com/a.pdf" }),
        layout({ id: 6 }),
      ),
    ).toEqual({
      1: { name: [expect.any(String)] },
      2: { "layout.0.left": [expect.any(String)] },
      3: { layout: [expect.stringContaining("Expected array.")] },
      4: { "layout.0": [expect.any(String)], background: [expect.any(String)] },
    });
    expect((await service.list()).map(({ id, elements }) => [id, elements])).toMatchObject([
      [1, expect.any(String)],
      [2, JSON.stringify([element])],
      [3, "[]"],
      [4, "[]"],
      [6, expect.any(String)],
    ]);
  });

  it.each([
    ["an address", "https://example.com/a.pdf", /not as an address/],
    ["a picture", `data:image/png;base64,${fileWith("image/png", "a").toString("base64")}`, /PDF/],
    ["not base64", "data:application/pdf;base64,%%%", /base64/],
    ["no PDF", `data:application/pdf;base64,${Buffer.from("text").toString("base64")}`, /not a PDF/],
  ])("[L7.3] is taken without its background if that is %s", async (_name, background, message) => {
    expect(await apply(layout({ background }), layout({ id: 2 }))).toEqual({
      1: { background: [expect.stringMatching(message)] },
    });
    expect(await keys()).toEqual([]);
    expect(await service.list()).toMatchObject([{ id: 1, background: undefined }, { id: 2 }]);
  });

  it("[L7.4] takes the default from the layout that was", async () => {
    await apply(layout({ default: true }), layout({ id: 2, name: "B", default: true }));
    expect((await service.list()).map(({ id, isDefault }) => [id, isDefault])).toEqual([
      [1, false],
      [2, true],
    ]);
    const made = await service.create({ name: "C" });
    await service.update(2, { isDefault: false });
    await service.update(made.id, { isDefault: true });
    await apply(layout({ default: true }));
    expect((await service.list()).filter(({ isDefault }) => isDefault).map(({ id }) => id)).toEqual([1]);
    await apply(layout({ default: false }), layout({ id: 2, name: "B", default: true }));
    await apply(layout({ id: 2, name: "B", default: true }), layout({ default: false }));
    expect((await service.list()).filter(({ isDefault }) => isDefault).map(({ id }) => id)).toEqual([2]);
  });

  it("[L7.5] has no id of those that are made here, and its event must be known", async () => {
    expect(await apply(layout({ id: 1_000_000_000_001 }), { ...layout(), event: "nowhere" })).toEqual({
      1: { id: [expect.stringContaining("made here")] },
      2: { event: [expect.any(String)] },
    });
    expect(await apply(layout({ id: 1_000_000_000_000 }))).toEqual({});
  });
});

describe("an assignment that comes as a record", () => {
  beforeEach(() => apply(layout(), layout({ id: 2, name: "B" })));

  it("[L7.6, R4.1] keeps its id, and is for `web` unless it says otherwise", async () => {
    const { kind } = assignment();
    expect(await apply({ kind, data: { id: 7, layout: 1, item: 1 } }, assignment({ id: 3, item: 2 }))).toEqual({});
    expect(await assignments()).toEqual([
      { id: 3, layout: 1, item: 2, salesChannel: "web" },
      { id: 7, layout: 1, item: 1, salesChannel: "web" },
    ]);
    await apply(removed(kind, 3), removed(kind, 3));
    expect((await assignments()).map(({ id }) => id)).toEqual([7]);
  });

  it("[L7.6] names a product and a layout that are known, and any channel", async () => {
    expect(await apply(assignment({ item: 9, layout: 8 }), assignment({ id: 2, sales_channel: "unknown" }))).toEqual({
      1: { item: [expect.any(String)], layout: [expect.any(String)] },
    });
    expect(await assignments()).toMatchObject([{ id: 2, salesChannel: "unknown" }]);
    expect(await apply(assignment({ id: 1_000_000_000_001 }))).toEqual({ 1: { id: [expect.any(String)] } });
  });

  it("[L7.6] may change, swap with another one and come under another id", async () => {
    await apply(assignment(), assignment({ id: 2, item: 2 }));
    expect(await apply(assignment({ item: 2 }), assignment({ id: 2, item: 1 }))).toEqual({});
    expect((await assignments()).map(({ id, item }) => [id, item])).toEqual([
      [1, 2],
      [2, 1],
    ]);
    expect(await apply(assignment({ id: 5, item: 1 }))).toEqual({});
    expect((await assignments()).map(({ id, item }) => [id, item])).toEqual([
      [1, 2],
      [5, 1],
    ]);
    expect(await apply(assignment({ id: 6, item: 3 }), assignment({ id: 7, item: 3 }))).toEqual({});
    expect((await assignments()).map(({ id }) => id)).toEqual([1, 5, 7]);
  });
});

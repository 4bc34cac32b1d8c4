import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PDFDocument, PDFName, PDFRawStream } from "@cantoo/pdf-lib";
import { diskFiles } from "@tessera/engines/files/disk";
import type { Files } from "@tessera/kit/files/files";
import { sql } from "@tessera/kit/pg/sql";
import { PreviewFormat } from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { keyOf } from "../backgrounds/backgrounds.ts";
import { layoutDatabase } from "../testing/database.ts";
import { printTools } from "../testing/print-tools.ts";
import { openTestRenderer, type TestRenderer } from "../testing/renderer.ts";
import { place, startLayout } from "../testing/start-layout.ts";
import { lintLayout } from "./lint-layout.ts";
import { previewLayout } from "./preview-layout.ts";
import { renderTicket } from "./render-ticket.ts";

const { db } = await layoutDatabase();
const directory = await mkdtemp(join(tmpdir(), "tessera-tickets-"));
const files = diskFiles({ directory });
const service = await startLayout(db, { files });
const renderer = openTestRenderer();
afterAll(async () => {
  await renderer.close();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(async () => {
  await service.reset();
  await service.prepareEvent();
});

const call = { signal: new AbortController().signal, deadline: Number.POSITIVE_INFINITY };

const tools = (changed: { renderer?: TestRenderer; files?: Files } = {}) =>
  printTools({ db, files, renderer, ...changed });

const render = (changed?: Parameters<typeof tools>[0]) => renderTicket({ ...place, position: 1 }, tools(changed), call);

/** Gives the default layout a background with this file; without bytes the file is lost. */
async function setBackground(bytes?: Uint8Array): Promise<string> {
  const name = randomBytes(20).toString("hex");
  const { id } = await service.create({ isDefault: true });
  await db.run(sql`
    update layout set background = ${name}, background_size = 1, background_sha256 = 'x' where id = ${id}`);
  if (bytes !== undefined) await files.put(keyOf(name), bytes, { contentType: "application/pdf" });
  return name;
}

const lasting = (code: string) => ({ kind: "unmet", code, retryAfterMs: undefined });

describe("a ticket that cannot be printed", () => {
  it("[L43.4] since its file is larger than an answer is refused for good, with what to change", async () => {
    const document = await PDFDocument.create();
    const { context } = document;
    const noise = randomBytes(15 * 1024 * 1024);
    const dict = context.obj({ Length: noise.length });
    document.addPage().node.set(PDFName.of("Contents"), context.register(PDFRawStream.of(dict, noise)));
    await setBackground(await document.save());
    // Reduced to its length: a failure report has no room for the file.
    await expect(render().then(({ pdf }) => pdf.length)).rejects.toMatchObject({
      ...lasting("ticket_too_large"),
      message: expect.stringContaining("more than 15 MiB"),
    });
  });

  it("[L33.6] since its background cannot be read, or is lost, is refused for good", async () => {
    await setBackground(Buffer.from("%PDF-1.4 broken"));
    await expect(render()).rejects.toMatchObject(lasting("ticket_unprintable"));
    await service.reset();
    await service.prepareEvent();
    await setBackground();
    await expect(render()).rejects.toMatchObject({
      ...lasting("ticket_unprintable"),
      message: expect.stringMatching(/^Part 1 \(position \d+\): The background of the layout is lost: set it again\.$/),
    });
    const draft = { background: undefined, withoutBackground: false };
    const preview = { ...place, draft, position: 1, format: PreviewFormat.PDF, dpi: 150, page: 1 };
    const pictures = { mostPixels: 1, draw: () => Promise.reject(new Error("none is drawn")), close: async () => {} };
    await expect(previewLayout(preview, { ...tools(), pictures }, call)).rejects.toMatchObject(
      lasting("background_lost"),
    );
    await expect(
      lintLayout({ ...place, draft, mayReadTickets: true }, { ...tools(), pictures }, call),
    ).rejects.toMatchObject(lasting("background_lost"));
  });

  it("[L33.7] since its background is being replaced can be asked for again", async () => {
    const name = await setBackground();
    const replacing: Files = {
      ...files,
      async get(...given) {
        await db.run(sql`update layout set background = ${"ab".repeat(20)} where background = ${name}`);
        return files.get(...given);
      },
    };
    await expect(render({ files: replacing })).rejects.toMatchObject({ kind: "conflict", code: "background_replaced" });
  });

  it("[L38.6] since no browser starts can be asked for again, and nothing is told of the machine", async () => {
    const error: unknown = await render({ renderer: openTestRenderer({ missing: 1 }) }).catch((reason) => reason);
    expect(error).toMatchObject({ kind: "unavailable", code: "browser_missing" });
    expect(String(error)).not.toContain("chromium");
  });
});

it("[L43.3] a ticket comes with the number of its warnings", async () => {
  expect((await render()).warnings).toBe(0);
  const text = { type: "textcontainer", page: 1, left: 10, bottom: 10, width: 60, height: 10, content: "" };
  const style = { fontsize: 12, fontfamily: "Open Sans", bold: false, italic: false, align: "left" };
  const elements = JSON.stringify([{ ...text, ...style, color: [0, 0, 0], verticalalign: "top" }]);
  await service.create({ isDefault: true, elements });
  expect((await render()).warnings).toBe(1);
});

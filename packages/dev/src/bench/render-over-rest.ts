import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "@tessera/cli/quantile";
import { aPhoto } from "@tessera/testkit/sample-photo";
import { apiKey, groundwork, onEmptyPlatform, recordOf } from "./on-empty-platform.ts";
import { drawBackground } from "./render-material.ts";

const eventPath = "/api/v1/organizers/bench/events/festival";
const photos = 10;
const perImport = 500;

/** What a job of the platform takes, from the request that starts it to its file. */
interface Run {
  /** From the POST to the last byte of the file. */
  readonly ms: number;
  /** Of it, until the POST was answered. */
  readonly startMs: number;
  readonly bytes: number;
}

/** The fastest of several runs, and what half of them took at most. */
export interface OverRest extends Run {
  readonly medianMs: number;
}

/** The first ones compile what runs. */
const rounds = 12;

/** Renders tickets with a background, eight texts, a code and a picture over REST, on a platform in one process. */
export async function measureOverRest({ tickets }: { readonly tickets: number }): Promise<OverRest> {
  const runs: Run[] = [];
  await onEmptyPlatform(async ({ baseUrl, progress, send }) => {
    await send([...groundwork, ...(await layout())]);
    for (let first = 1; first <= tickets; first += perImport) {
      progress.update(`${first - 1} of ${tickets} tickets imported`);
      const last = Math.min(tickets, first + perImport - 1);
      await send(Array.from({ length: last - first + 1 }, (_, index) => order(first + index)));
    }
    for (let round = 1; round <= rounds; round += 1) {
      progress.update(`rendering, ${round} of ${rounds}`);
      runs.push(await renderOne(baseUrl, tickets));
    }
  });
  const best = runs.reduce((one, other) => (one.ms < other.ms ? one : other));
  const medianMs = quantile(
    runs.map(({ ms }) => ms),
    0.5,
  );
  return { ...best, medianMs };
}

/** More often than clients ask, so that the wait between two questions is not measured. */
const askAgainMs = 25;

async function renderOne(baseUrl: string, tickets: number): Promise<Run> {
  const headers = { authorization: `Token ${apiKey}`, "content-type": "application/json" };
  const parts = Array.from({ length: tickets }, (_, index) => ({ orderposition: index + 1 }));
  const started = performance.now();
  const answer = await fetch(`${baseUrl}${eventPath}/ticketpdfrenderer/render_batch/`, {
    method: "POST",
    headers,
    body: JSON.stringify({ parts }),
  });
  const { download } = (await answer.json()) as { download: string };
  const startMs = performance.now() - started;
  for (;;) {
    const file = await fetch(download, { headers });
    const { byteLength } = await file.arrayBuffer();
    if (file.status === 200) return { ms: performance.now() - started, startMs, bytes: byteLength };
    if (file.status !== 409) throw new Error(`the file answered ${file.status}`);
    await sleep(askAgainMs);
  }
}

const dataUrl = (type: string, bytes: Uint8Array) => `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;

async function layout(): Promise<string[]> {
  const text = (content: string, [left, bottom, width, height]: readonly number[], look: object = {}) => ({
    ...{ type: "textcontainer", page: 1, left, bottom, width, height, content, fontsize: 13, fontfamily: "Open Sans" },
    ...{ bold: false, italic: false, align: "left", verticalalign: "top", color: [20, 20, 20], lineheight: 1 },
    ...{ autoresize: true, splitlongwords: true, ...look },
  });
  const elements = [
    text("event_name", [16, 272, 110, 12], { fontsize: 16, bold: true }),
    text("itemvar", [16, 261, 110, 8]),
    text("attendee_name", [16, 251, 110, 8], { bold: true }),
    text("event_begin", [16, 241, 110, 8], { italic: true }),
    text("seat", [16, 231, 110, 8]),
    text("event_location", [16, 210, 80, 20]),
    text("order", [16, 193, 32, 8]),
    text("price", [51, 193, 47, 8]),
    { type: "barcodearea", left: 130, bottom: 205, size: 64, content: "secret" },
    { type: "imagearea", left: 100, bottom: 190, width: 26, height: 20, content: "question_PHOTO" },
  ];
  const { bytes } = await drawBackground();
  return [
    recordOf("question", { id: 1, question: { en: "Photo" }, type: "F", identifier: "PHOTO", items: [1] }),
    recordOf("ticket_layout", {
      ...{ id: 1, name: "Bench", default: true, layout: elements },
      background: dataUrl("application/pdf", bytes),
    }),
  ];
}

const names = ["Žofie Ångström", "Jürgen Müller-Lüdenscheidt", "Ελένη Παπαδοπούλου", "Наталья Кузнецова", "Ana Núñez"];
const pictures = Array.from({ length: photos }, (_, seed) => dataUrl("image/jpeg", aPhoto({ seed })));

function order(number: number): string {
  const position = {
    ...{
      id: number,
      positionid: 1,
      item: 1,
      price: "1234.50",
      attendee_name: `${names[number % names.length]} ${number}`,
    },
    secret: (number * 7919 + 1_000_003).toString(36).padStart(8, "x").repeat(4).slice(0, 32),
    seat: { seat_guid: `seat-${number}`, name: `Row ${number % 40}, seat ${number}` },
    answers: [{ question: 1, answer: pictures[number % photos] }],
  };
  return recordOf("order", {
    ...{ code: `R${number.toString(36).toUpperCase()}`, status: "p", locale: "de", sales_channel: "web" },
    ...{ datetime: "2026-12-01T10:00:00Z", total: "1234.50", positions: [position] },
  });
}

import { setTimeout as sleep } from "node:timers/promises";
import { apiKey, groundwork, recordOf } from "./on-empty-platform.ts";

const eventPath = "/api/v1/organizers/bench/events/festival";
const batchesPath = `${eventPath}/offlinesalesbatches/`;

/** More often than clients ask, so that the wait between two questions is not measured. */
const askAgainMs = 20;

const text = (content: string, bottom: number) => ({
  ...{ type: "textcontainer", page: 1, left: 16, bottom, width: 110, height: 10, content, fontsize: 13 },
  ...{ fontfamily: "Open Sans", bold: false, italic: false, align: "left", verticalalign: "top" },
  ...{ color: [20, 20, 20], lineheight: 1, autoresize: true, splitlongwords: true },
});

/** All that a batch needs, as records. */
export const batchGround: readonly string[] = [
  ...groundwork,
  recordOf("quota", { id: 1, name: "All", size: null, items: [1], variations: [] }),
  recordOf("checkin_list", { id: 1, name: "Everything" }),
  recordOf("ticket_layout", {
    ...{ id: 1, name: "Bench", default: true },
    layout: [
      text("event_name", 272),
      text("itemvar", 261),
      text("order", 251),
      text("price", 241),
      { type: "barcodearea", left: 130, bottom: 205, size: 64, content: "secret" },
    ],
  }),
];

interface Made {
  readonly id: number;
  readonly ms: number;
  /** What the list of all tickets counts by then. */
  readonly counted: number;
}

/** Makes a batch, from the request until it is shown. */
export async function makeBatch(baseUrl: string, amount: number): Promise<Made> {
  const started = performance.now();
  const asked = { item: 1, layout: 1, sales_channel: "web", amount };
  const { check } = await ask<{ check: string }>(`${baseUrl}${batchesPath}`, asked);
  const { id } = await untilDone(check, (answer) => answer.json() as Promise<{ id: number }>);
  const ms = performance.now() - started;
  const status = await ask<{ position_count: number }>(`${baseUrl}${eventPath}/checkinlists/1/status/`);
  return { id, ms, counted: status.position_count };
}

export interface Rendered {
  readonly ms: number;
  readonly bytes: number;
}

/** Renders a batch, from the request to the last byte of the file. */
export async function renderBatch(baseUrl: string, id: number): Promise<Rendered> {
  const started = performance.now();
  const { download } = await ask<{ download: string }>(`${baseUrl}${batchesPath}${id}/render/`, {});
  const { byteLength } = await untilDone(download, (answer) => answer.arrayBuffer());
  return { ms: performance.now() - started, bytes: byteLength };
}

const headers = { authorization: `Token ${apiKey}`, "content-type": "application/json" };

async function untilDone<T>(url: string, read: (answer: Response) => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await fetch(url, { headers });
    if (answer.status === 200) return read(answer);
    const shown = await answer.text();
    if (answer.status !== 409) throw new Error(`${url} answered ${answer.status} ${shown}`);
    await sleep(askAgainMs);
  }
}

async function ask<T>(url: string, body?: object): Promise<T> {
  const answer = await fetch(url, {
    headers,
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

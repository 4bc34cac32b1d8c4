import { createReadStream } from "node:fs";
import { bar, type Progress } from "../command/progress.ts";
import { demo, demoRecords, demoStream, firstSecret } from "../demo/demo.ts";
import { makeDemoBatch } from "../demo/demo-batch.ts";
import { report, sendRecords } from "../import/import.ts";
import type { LocalData } from "../local/local-data.ts";

export interface DemoKeys {
  readonly apiKey: string;
  readonly deviceKey: string;
}

export interface LoadedDemo extends DemoKeys {
  /** The secret of a ticket that was not scanned yet. */
  readonly ticket: string;
}

/** Loads the demo and a file of records into a running platform, if requested; returns the keys of the demo. */
export async function fill(options: {
  url: string;
  operatorKey: string;
  demo: boolean;
  file: string | undefined;
  data: LocalData;
  progress: Progress;
  signal: AbortSignal;
}): Promise<LoadedDemo | undefined> {
  const { file, progress, url, operatorKey: key, signal } = options;
  const keys = options.demo ? await loadDemo(options) : undefined;
  if (file !== undefined) {
    progress.update(`importing ${file}…`);
    const answer = await sendRecords(createReadStream(file), { url, key, signal });
    progress.done();
    report(answer);
  }
  return keys;
}

/** The keys of the demo, created once and stored. */
export async function keptDemoKeys(data: Pick<LocalData, "keptSecret">): Promise<DemoKeys> {
  return { apiKey: await data.keptSecret("demo-api-key"), deviceKey: await data.keptSecret("demo-device-key") };
}

/** Loads what is missing of the demo. */
async function loadDemo(options: Parameters<typeof fill>[0]): Promise<LoadedDemo> {
  const keys = await loadDemoRecords(options);
  options.progress.update("making the batch of the demo…");
  await makeDemoBatch({ url: options.url, apiKey: keys.apiKey, signal: options.signal });
  return keys;
}

/** Loads the records of the demo unless they are complete, which the list shows: it comes last. */
async function loadDemoRecords(options: Parameters<typeof fill>[0]): Promise<LoadedDemo> {
  const { url, operatorKey: key, signal, data, progress } = options;
  const keys = await keptDemoKeys(data);
  const list = new URL(`/api/v1/organizers/${demo.organizer}/events/${demo.event}/checkinlists/${demo.list}/`, url);
  const found = await fetch(list, { headers: { authorization: `Token ${keys.apiKey}` } });
  await found.arrayBuffer();
  if (found.status === 200) return { ...keys, ticket: await findTicket(list, keys.apiKey) };
  progress.update("loading the demo…");
  const total = [...demoRecords(keys)].length;
  const onRecord = (count: number) =>
    progress.update(
      count < total
        ? `loading the demo…  ${bar(count, total)}  ${count} of ${total} records`
        : "loading the demo: waiting until every service has caught up…",
    );
  const answer = await sendRecords(demoStream(keys, onRecord), { url, key, signal });
  if (answer.rejected > 0) throw new Error(`records of the demo were rejected: ${JSON.stringify(answer.errors[0])}`);
  return { ...keys, ticket: firstSecret };
}

/** Finds a ticket of the list that was not scanned, and of the product that asks no questions. */
async function findTicket(list: URL, apiKey: string): Promise<string> {
  const page = new URL("positions/?has_checkin=false&page_size=50", list);
  const response = await fetch(page, { headers: { authorization: `Token ${apiKey}` } });
  const { results = [] } = (await response.json()) as { results?: { item: number; secret: string }[] };
  return results.find(({ item }) => item === demo.item)?.secret ?? firstSecret;
}

import { createReadStream } from "node:fs";
import { demo, demoStream } from "./demo/demo.ts";
import { makeDemoBatch } from "./demo/demo-batch.ts";
import { report, sendRecords } from "./import.ts";
import type { LocalData } from "./local-data.ts";
import type { Progress } from "./progress.ts";

export interface DemoKeys {
  readonly apiKey: string;
  readonly deviceKey: string;
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
}): Promise<DemoKeys | undefined> {
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

/** Loads the demo, or what is missing of it. */
async function loadDemo(options: Parameters<typeof fill>[0]): Promise<DemoKeys> {
  const keys = await loadDemoRecords(options);
  options.progress.update("making the batch of the demo…");
  await makeDemoBatch({ url: options.url, apiKey: keys.apiKey, signal: options.signal });
  return keys;
}

/** Loads the records of the demo unless they are loaded. Its list comes last: with the list, they are complete. */
async function loadDemoRecords(options: Parameters<typeof fill>[0]): Promise<DemoKeys> {
  const { url, operatorKey: key, signal, data, progress } = options;
  const keys = { apiKey: await data.keptSecret("demo-api-key"), deviceKey: await data.keptSecret("demo-device-key") };
  const list = new URL(`/api/v1/organizers/${demo.organizer}/events/${demo.event}/checkinlists/${demo.list}/`, url);
  const found = await fetch(list, { headers: { authorization: `Token ${keys.apiKey}` } });
  await found.arrayBuffer();
  if (found.status === 200) return keys;
  progress.update("loading the demo…");
  const answer = await sendRecords(demoStream(keys), { url, key, signal });
  if (answer.rejected > 0) throw new Error(`records of the demo were rejected: ${JSON.stringify(answer.errors[0])}`);
  return keys;
}

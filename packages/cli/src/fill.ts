import { createReadStream } from "node:fs";
import { demo, demoStream } from "./demo/demo.ts";
import { report, sendRecords } from "./import.ts";
import type { LocalData } from "./local-data.ts";
import type { Progress } from "./progress.ts";

export interface DemoKeys {
  readonly apiKey: string;
  readonly deviceKey: string;
}

/** Brings the demo and a file of records into a running platform, as far as they are asked for; returns the keys of the demo. */
export async function fill(options: {
  url: string;
  operatorKey: string;
  demo: boolean;
  file: string | undefined;
  data: LocalData;
  progress: Progress;
  signal: AbortSignal;
}): Promise<DemoKeys | undefined> {
  const { file, progress } = options;
  const importing = { url: options.url, key: options.operatorKey, signal: options.signal };
  const keys = options.demo ? await loadDemo({ ...importing, data: options.data, progress }) : undefined;
  if (file !== undefined) {
    progress.update(`importing ${file}…`);
    const answer = await sendRecords(createReadStream(file), importing);
    progress.done();
    report(answer);
  }
  return keys;
}

/** Loads the demo unless it is there. Its list comes last, so a demo with a list is whole. */
async function loadDemo(options: {
  url: string;
  key: string;
  signal: AbortSignal;
  data: LocalData;
  progress: Progress;
}): Promise<DemoKeys> {
  const { url, key, signal, data, progress } = options;
  const keys = { apiKey: await data.keptSecret("demo-api-key"), deviceKey: await data.keptSecret("demo-device-key") };
  const list = new URL(`/api/v1/organizers/${demo.organizer}/events/${demo.event}/checkinlists/${demo.list}/`, url);
  const found = await fetch(list, { headers: { authorization: `Token ${keys.apiKey}` } });
  await found.arrayBuffer();
  if (found.status === 200) return keys;
  progress.update("loading the demo…");
  const answer = await sendRecords(demoStream(keys), { url, key, signal });
  if (answer.rejected > 0) throw new Error(`the demo was not taken whole: ${JSON.stringify(answer.errors[0])}`);
  return keys;
}

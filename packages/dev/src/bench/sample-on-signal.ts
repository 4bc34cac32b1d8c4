import { Session } from "node:inspector/promises";
import { replaceFile } from "@tessera/cli/replace-file";
import { profilePathOf, sampleEveryMicroseconds } from "./sampled-process.ts";

// Loaded with --import into a process that is measured: from one SIGUSR2 to the next it samples what its thread does.
let session: Session | undefined;

async function begin(): Promise<Session> {
  const begun = new Session();
  begun.connect();
  await begun.post("Profiler.enable");
  await begun.post("Profiler.setSamplingInterval", { interval: sampleEveryMicroseconds });
  await begun.post("Profiler.start");
  return begun;
}

async function end(begun: Session): Promise<void> {
  const { profile } = await begun.post("Profiler.stop");
  begun.disconnect();
  await replaceFile(profilePathOf(process.pid), JSON.stringify(profile));
}

async function change(): Promise<void> {
  const begun = session;
  session = begun === undefined ? await begin() : undefined;
  if (begun !== undefined) await end(begun);
}

process.on("SIGUSR2", () => void change());

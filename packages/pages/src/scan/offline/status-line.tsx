import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { say, sayTime } from "../scan-speech.ts";
import { connection } from "../server/ask-server.ts";
import type { KeptDevice } from "../set-up/kept-device.ts";
import { canDecideHere } from "./decide-here.ts";
import { completeAt } from "./event-copy.ts";
import { isStorageFull, waitingScans } from "./kept-scans.ts";

/** What the feed told less than this ago is up to date: it answers each half minute. */
const freshMs = 60_000;
const refreshMs = 5000;

/** What this page has without the network: the age of its data, and the scans that it has still to upload. */
export function StatusLine({ device }: { readonly device: KeptDevice }) {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = Date.now();
    }, refreshMs);
    return () => clearInterval(timer);
  }, []);
  const isOffline = connection.value === "offline";
  const decides = canDecideHere(device);
  return (
    <>
      <p class="notice unsure" role="alert" hidden={!isOffline}>
        {isOffline ? say(decides ? "offline_here" : "offline_text") : ""}
      </p>
      {isStorageFull.value ? (
        <p class="notice unsure" role="alert">
          {say("storage_full")}
        </p>
      ) : null}
      <p class="quiet status">
        {sayData({ decides, now: now.value })} · {sayQueue()}
      </p>
    </>
  );
}

function sayData({ decides, now }: { readonly decides: boolean; readonly now: number }): string {
  if (!decides) return say("data_none");
  const { value } = completeAt;
  if (value === undefined) return say("data_kept");
  return now - value < freshMs ? say("data_fresh") : say("data_old", { time: sayTime(value) });
}

function sayQueue(): string {
  const waiting = waitingScans();
  const [oldest] = waiting;
  if (oldest === undefined) return say("queue_none");
  return say("queue_some", { count: waiting.length, time: sayTime(oldest.at) });
}

import { quantile } from "@tessera/cli/simulate/quantile";
import { poll } from "@tessera/kit/waiting/poll";
import { holdCode, installCamera } from "@tessera/testkit/browser/fake-camera";
import { type Page, startPageBrowser } from "@tessera/testkit/browser/page-browser";
import { organizerPath, sendRecords } from "./client.ts";
import { filledSecret, fillLargeEvent, wasScanned } from "./large-event.ts";
import { inOneProcess, type Platform } from "./platform.ts";
import { gate, operatorKey } from "./records.ts";
import { atMost, figure, type Row, report, short } from "./report.ts";

/** What is promised. */
const promised = { onlineMs: 150, offlineMs: 50, startSeconds: 2, readySeconds: 3, megabytes: 60 } as const;

/** Tickets that are held before the camera. */
const scansEach = 40;
const longestMs = 120_000;

/** Runs in the page before its own scripts: measures from the frame with a code to the verdict that is drawn. */
const probe = `
let sentAt;
let frameAt;
let code;
let isWaiting = false;
window.took = [];
window.decoded = [];
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (...sent) {
  sentAt = performance.now();
  return post.apply(this, sent);
};
const listen = EventTarget.prototype.addEventListener;
Worker.prototype.addEventListener = function (type, listener, ...more) {
  const heard = type !== "message" ? listener : (event) => {
    const { code: found = code } = event.data;
    // Later frames show the ticket, too.
    if (found !== code) {
      [code, frameAt, isWaiting] = [found, sentAt, true];
      window.decoded.push(performance.now() - sentAt);
    }
    listener(event);
  };
  return listen.call(this, type, heard, ...more);
};
new MutationObserver(() => {
  if (document.querySelector(".scanning") !== null) window.drawnAt ??= performance.now();
  if (document.querySelector(".status")?.innerText.startsWith("data of")) window.readyAt ??= performance.now();
  if (!isWaiting || document.querySelector(".verdict") === null) return;
  isWaiting = false;
  requestAnimationFrame(() => window.took.push(performance.now() - frameAt));
}).observe(document, { childList: true, subtree: true, characterData: true });
`;

/** Scans an event with many tickets with the camera of a browser, with a network and without. */
export function benchScannerPage(tickets: number): Promise<void> {
  return inOneProcess(async (platform) => {
    const { baseUrl, progress, open } = platform;
    await sendRecords(baseUrl, gate);
    await fillLargeEvent(open("checkin"), { tickets, progress });
    const browser = await startPageBrowser();
    try {
      const ids = Array.from({ length: tickets }, (_, index) => index + 1).filter((id) => id > 1 && !wasScanned(id));
      const codes = ids.slice(0, 2 * scansEach).map(filledSecret);
      const visit = async (code = "") => {
        const page = await browser.newPage();
        await page.setViewport({ width: 390, height: 844 });
        await page.evaluateOnNewDocument(probe);
        // As the camera of a phone in poor light.
        await installCamera(page, { framesPerSecond: 20, width: 1280 });
        await page.setOfflineMode(code === "");
        await page.goto(`${baseUrl}/scan/${code}`);
        return page;
      };
      progress.update("copying…");
      const page = await visit(`#setup=${await createDevice(platform)}`);
      const copied = await copy(page);
      progress.update("scanning…");
      const online = await scan(page, codes.splice(0, scansEach));
      await page.close();
      progress.update("scanning without a network…");
      const rows = [
        figure(`copy of ${tickets} tickets made, read and stored`, `${short(copied)} s`),
        ...verdicts("online", online, promised.onlineMs),
        ...(await measureOffline(await visit(), codes)),
      ];
      progress.done();
      report(rows);
    } finally {
      await browser.close();
    }
  });
}

/** Chooses a list, and waits until the page has its copy of the event. */
async function copy(page: Page): Promise<number> {
  const button = await page.waitForSelector('::-p-aria([name="Gate"][role="button"])');
  const started = performance.now();
  await button?.click();
  await until(page, 'document.querySelector(".status")?.innerText.startsWith("data up to date")');
  return (performance.now() - started) / 1000;
}

/** Starts the page again, without a network. */
async function measureOffline(page: Page, codes: readonly string[]): Promise<Row[]> {
  await until(page, 'document.querySelector(".status")?.innerText.startsWith("data of the last visit")');
  const [drawnMs, readyMs] = (await page.evaluate("[window.drawnAt, window.readyAt]")) as [number, number];
  const session = await page.createCDPSession();
  await session.send("HeapProfiler.collectGarbage");
  const heap = (await session.send("Runtime.getHeapUsage")) as { usedSize: number; backingStorageSize?: number };
  const bytes = heap.usedSize + (heap.backingStorageSize ?? 0);
  return [
    atMost("start without a network, drawn", drawnMs / 1000, promised.startSeconds, "s"),
    atMost("  its copy can be searched", readyMs / 1000, promised.readySeconds, "s"),
    atMost("  memory of the page with its copy", bytes / 1e6, promised.megabytes, "MB"),
    ...verdicts("without a network", await scan(page, codes), promised.offlineMs),
  ];
}

/** Holds tickets before the camera, and returns how long each took from its frame to its verdict. */
async function scan(page: Page, codes: readonly string[]): Promise<Took[]> {
  await until(page, 'document.querySelector(".camera.on") !== null');
  for (const [index, code] of codes.entries()) {
    await holdCode(page, code);
    await until(page, `window.took.length > ${index}`);
    await holdCode(page, "");
    const isAdmitted = await page.evaluate('document.querySelector(".verdict.admitted") !== null');
    if (isAdmitted !== true) throw new Error("a ticket was not admitted");
    await page.keyboard.press("Escape");
    await until(page, 'document.querySelector(".verdict") === null');
  }
  return (await page.evaluate("window.took.map((took, index) => [took, window.decoded[index]])")) as Took[];
}

/** Waits in short steps: the protocol of the browser limits how long one may take. */
async function until(page: Page, condition: string): Promise<void> {
  const holds = async () => (await page.evaluate(condition)) === true;
  if (!(await poll(holds, { until: Date.now() + longestMs })))
    throw new Error(`in two minutes it was never so: ${condition}`);
}

/** Until the verdict, and until the code was read, in milliseconds. */
type Took = readonly [verdictMs: number, decodedMs: number];

function verdicts(how: string, took: readonly Took[], limit: number): Row[] {
  // The decoder starts with the first ticket.
  const warm = took.slice(1).map(([verdictMs]) => verdictMs);
  const decoded = took.slice(1).map(([, decodedMs]) => decodedMs);
  return [
    atMost(`frame with a code to verdict, ${how}, p95`, quantile(warm, 0.95), limit, "ms"),
    figure("  p50", `${short(quantile(warm, 0.5))} ms`),
    figure(
      "  reading the code, p50 and p95",
      `${short(quantile(decoded, 0.5))} and ${short(quantile(decoded, 0.95))} ms`,
    ),
  ];
}

async function createDevice({ baseUrl }: Platform): Promise<string> {
  const answer = await fetch(`${baseUrl}${organizerPath}/devices/`, {
    method: "POST",
    headers: { authorization: `Token ${operatorKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "Bench", all_events: true, security_profile: "pretixscan" }),
  });
  const { initialization_token: code } = (await answer.json()) as { readonly initialization_token: string };
  return code;
}

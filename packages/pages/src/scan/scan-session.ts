import { effect, signal } from "@preact/signals";
import { makeKey } from "../ui/make-key.ts";
import { Cooldown } from "./camera/cooldown.ts";
import { dropCopy } from "./offline/event-copy.ts";
import { followFeed } from "./offline/follow-feed.ts";
import { findUnanswered, forgetScans, forgetStored, hasUnstored, keptScans, loadScans } from "./offline/kept-scans.ts";
import { uploadScans } from "./offline/upload-scans.ts";
import {
  type Attempt,
  type Change,
  exchangeOf,
  follow,
  type Happening,
  ready,
  type ScanState,
  type ScanType,
  toneOf,
} from "./one-scan.ts";
import { becomeTheTab } from "./one-tab.ts";
import { sendScan } from "./send-scan.ts";
import { askServer, connection, told } from "./server/ask-server.ts";
import { now } from "./server/clock.ts";
import type { ChosenList, KeptDevice } from "./set-up/kept-device.ts";
import { addToHistory, clearHistory } from "./sheets/last-scans.ts";
import { emptyStorage, keepDevice, loadDevice } from "./storage.ts";
import { checkCode } from "./typed/check-code.ts";
import { learnFrom, readScanner } from "./typed/wedge.ts";
import type { PressedKey } from "./typed/wedge-buffer.ts";
import { type Exchange, type MediumProblem, readMedium } from "./verdict/read-medium.ts";
import { signalVerdict } from "./verdict/signals-of-verdict.ts";

/** What the page shows. */
export type Stage =
  | { readonly at: "starting" | "revoked" | "unknown" }
  /** `code` is that of a link that waits until this tab takes over. */
  | { readonly at: "elsewhere"; readonly code?: string | undefined }
  /** `code` is that of a link; where it was used before, the former device goes on. */
  | { readonly at: "unset"; readonly code?: string | undefined; readonly former?: KeptDevice | undefined }
  | { readonly at: "choosing" | "scanning"; readonly device: KeptDevice };

export const stage = signal<Stage>({ at: "starting" });
export const scan = signal<ScanState>(ready);
export const direction = signal<ScanType>("entry");
export const isLoud = signal(true);
/** The code before the camera that was just scanned: it is scanned again if a person asks. */
export const restingCode = signal<string | undefined>(undefined);

/** Why what was brought after a ticket is not its medium. */
export const mediumProblem = signal<MediumProblem | undefined>(undefined);

const soundKey = "tessera-scanner-sounds";
const cooldown = new Cooldown();
const restShownMs = 1500;
let restTimer: ReturnType<typeof setTimeout> | undefined;

/** How often a device that rests asks whether its access still stands, and whether the network is back. */
const askMs = { online: 60_000, offline: 5000 } as const;

/** Starts where the last visit ended; the code of a link sets a device up first. */
export async function startSession({
  steal = false,
  code,
}: {
  readonly steal?: boolean;
  readonly code?: string | undefined;
} = {}): Promise<void> {
  stage.value = { at: "starting" };
  const isTheTab = await becomeTheTab({ steal, onLost: () => showElsewhere() });
  if (!isTheTab) return showElsewhere(code);
  isLoud.value = localStorage.getItem(soundKey) !== "off";
  const device = await loadDevice().catch(() => undefined);
  await loadScans().catch(() => {});
  if (device === undefined || code !== undefined) stage.value = { at: "unset", code, former: device };
  else enter(device);
}

/** Whether the page may load again: nothing is under way, and nothing is in its memory alone. */
export function isFree(): boolean {
  const { at } = stage.value;
  return (at === "scanning" || at === "choosing") && scan.value.at === "ready" && !hasUnstored();
}

function showElsewhere(code?: string): void {
  stopWork();
  scan.value = ready;
  forgetStored();
  stage.value = { at: "elsewhere", code };
}

/** Goes on with a device that is set up. */
export function enter(device: KeptDevice): void {
  stopWork();
  working = new AbortController();
  void uploadScans(device, working.signal);
  if (device.chosen !== null && device.hasListIds) void followFeed(device, device.chosen.event, working.signal);
  stage.value = { at: device.chosen === null ? "choosing" : "scanning", device };
}

/** What goes on beside scanning: the copy of the event is kept up to date, and scans are uploaded. */
let working = new AbortController();

function stopWork(): void {
  working.abort();
}

effect(() => {
  told.queue = keptScans.value.filter(({ state }) => state === "waiting").length;
});

export async function chooseList(device: KeptDevice, chosen: ChosenList): Promise<void> {
  const changed = { ...device, chosen };
  // Without storage the list is chosen again after a reload.
  await keepDevice(changed).catch(() => {});
  clearHistory();
  enter(changed);
}

export function changeList(): void {
  const { value } = stage;
  if (value.at !== "scanning") return;
  scan.value = ready;
  stage.value = { at: "choosing", device: value.device };
}

/** Deletes everything here, and shows why. */
export async function leave(at: "revoked" | "unset"): Promise<void> {
  stopWork();
  scan.value = ready;
  clearHistory();
  dropCopy();
  forgetScans();
  stage.value = { at };
  await emptyStorage();
}

/** Shows why this device may scan no more. */
export function lose(why: "revoked" | "unknown"): void {
  if (why === "revoked") return void leave(why);
  stopWork();
  scan.value = ready;
  stage.value = { at: "unknown" };
}

export function switchSounds(): void {
  isLoud.value = !isLoud.value;
  localStorage.setItem(soundKey, isLoud.value ? "on" : "off");
}

/** What the camera sees; it sees a ticket many times. */
export function sawCode(brought: string): void {
  if (cooldown.admits(brought, performance.now())) {
    restingCode.value = undefined;
    readCode(brought);
  } else if (scan.value.at === "ready") {
    restingCode.value = brought;
    clearTimeout(restTimer);
    restTimer = setTimeout(() => {
      restingCode.value = undefined;
    }, restShownMs);
  }
}

/** Checks the code before the camera once more. */
export function checkResting(): void {
  const { value } = restingCode;
  restingCode.value = undefined;
  if (value !== undefined) readCode(value);
}

/** What a person has typed, or a scanner with a cable has sent: it is checked each time. */
export function readCode(brought: string, type: ScanType = direction.value, other = ""): void {
  const exchange = exchangeOf(scan.value);
  if (exchange !== undefined) {
    bringMedium(brought, exchange);
    return;
  }
  const checked = checkCode(brought);
  if ("problem" in checked) {
    tell({ what: "unreadable", problem: checked.problem });
    return;
  }
  const { code } = checked;
  const { value } = stage;
  // The server may have admitted the ticket meanwhile: by the same nonce it is admitted again.
  const unanswered =
    value.at === "scanning" && value.device.chosen !== null
      ? findUnanswered({ code, type, list: value.device.chosen.list, token: value.device.token })
      : undefined;
  const nonce = unanswered ?? makeKey();
  const also = checkCode(other);
  const attempt = { nonce, code, type, at: now(), ignoreUnpaid: false, force: false, answers: {} };
  tell({ what: "code", attempt: "code" in also ? { ...attempt, alsoRead: also.code } : attempt });
}

/** What comes after a ticket that has to be exchanged is its medium. */
function bringMedium(brought: string, exchange: Exchange): void {
  const { value } = scan;
  if (value.at !== "decided") return;
  const read = readMedium(brought, exchange, value.attempt.code);
  mediumProblem.value = "problem" in read ? read.problem : undefined;
  if ("medium" in read) changeScan(read);
}

/** What a scanner that is a keyboard has typed. */
export function readKeys(keys: readonly PressedKey[]): void {
  const { code, other } = readScanner(keys);
  readCode(code, direction.value, other?.code);
}

export const checkAgain = () => tell({ what: "again" });
export const dismiss = () => tell({ what: "dismissed" });
export const changeScan = (change: Change) => tell({ what: "changed", nonce: makeKey(), at: now(), change });

function tell(happening: Happening): void {
  const before = scan.value;
  const after = follow(before, happening);
  if (after === before) return;
  scan.value = after;
  const tone = toneOf(after);
  if (tone !== undefined) signalVerdict(tone, { isLoud: isLoud.value });
  if (exchangeOf(after) === undefined) mediumProblem.value = undefined;
  // Questions are no verdict yet, and neither is an exchange.
  if (after.at === "decided" && after.verdict.kind !== "questions" && exchangeOf(after) === undefined)
    addToHistory(after);
  if (after.at === "decided") learnFrom(after.attempt, after.verdict);
  const isNew = after.at === "asking" && (before.at !== "asking" || before.attempt !== after.attempt);
  if (isNew) send(after.attempt);
}

function send(attempt: Attempt): void {
  const { value } = stage;
  if (value.at !== "scanning") return;
  void sendScan(attempt, value.device, { tell, lose });
}

/** Asks now and then whether this device may still scan, so that a revoked one is empty before its next scan. */
export function keepAsking(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ask = async () => {
    const { value } = stage;
    if ((value.at === "scanning" || value.at === "choosing") && document.visibilityState === "visible") {
      const { kind } = await askServer("device/info", { token: value.device.token, timeoutMs: 4000 });
      if (kind === "revoked" || kind === "unknown") lose(kind);
    }
    plan();
  };
  const plan = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void ask(), connection.value === "offline" ? askMs.offline : askMs.online);
  };
  effect(() => {
    if (connection.value === "offline") plan();
  });
  addEventListener("offline", () => {
    connection.value = "offline";
  });
  addEventListener("online", () => void ask());
  document.addEventListener("visibilitychange", () => void ask());
  plan();
}

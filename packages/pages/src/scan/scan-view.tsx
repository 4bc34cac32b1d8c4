import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { stayAwake } from "../ui/stay-awake.ts";
import { CameraView } from "./camera/camera-view.tsx";
import { DoubtfulSheet } from "./offline/doubtful-sheet.tsx";
import { doubtfulScans } from "./offline/kept-scans.ts";
import { StatusLine } from "./offline/status-line.tsx";
import { checkResting, direction, readKeys, restingCode, scan } from "./scan-session.ts";
import { say, saySpan } from "./scan-speech.ts";
import { connection } from "./server/ask-server.ts";
import { clockAhead, clockTrouble } from "./server/clock.ts";
import { findGates } from "./set-up/find-lists.ts";
import type { KeptDevice } from "./set-up/kept-device.ts";
import { allowancesOf } from "./set-up/profile.ts";
import { AnnulSheet } from "./sheets/annul-sheet.tsx";
import { HistorySheet } from "./sheets/history-sheet.tsx";
import { findLastAdmitted } from "./sheets/last-scans.ts";
import { MenuSheet } from "./sheets/menu-sheet.tsx";
import { SearchSheet } from "./sheets/search-sheet.tsx";
import { CodeForm } from "./typed/code-form.tsx";
import { dismissMistyping, mistyping, toPressedKey } from "./typed/wedge.ts";
import { longestPauseMs, WedgeBuffer } from "./typed/wedge-buffer.ts";
import { VerdictView } from "./verdict/verdict-view.tsx";

type SheetName = "search" | "history" | "annul" | "menu" | "doubtful";

/** The page at work: what is scanned, the camera, and what a crew needs beside it. */
export function ScanView({ device }: { readonly device: KeptDevice }) {
  const open = useSignal<SheetName | undefined>(undefined);
  const gates = useSignal<ReadonlyMap<number, string>>(new Map());
  const may = allowancesOf(device.profile);
  const doubtful = doubtfulScans().length;
  const close = () => {
    open.value = undefined;
  };
  useEffect(() => stayAwake(), []);
  useEffect(() => listenForWedge(() => open.value === undefined), []);
  useEffect(() => {
    void findGates(device).then((found) => {
      gates.value = found;
    });
  }, [device.organizer]);
  return (
    <>
      <main class="scanning">
        <Header device={device} />
        <StatusLine device={device} />
        <Clock />
        <Mistyped />
        <CameraView isResting={open.value !== undefined} />
        <section class="controls stack">
          <p class="progress" role="status">
            {sayProgress()}
          </p>
          {restingCode.value === undefined ? null : <Button onPress={checkResting}>{say("again")}</Button>}
          <Directions />
          <CodeForm />
          <nav class="tools" aria-label={say("menu")}>
            {may.search ? <Button onPress={() => (open.value = "search")}>{say("search")}</Button> : null}
            {may.menu && doubtful > 0 ? (
              <Button isStrong onPress={() => (open.value = "doubtful")}>
                {say("doubtful_some", { count: doubtful })}
              </Button>
            ) : null}
            {may.menu ? <Button onPress={() => (open.value = "history")}>{say("history")}</Button> : null}
            {may.supervise ? (
              <Button isOff={findLastAdmitted() === undefined} onPress={() => (open.value = "annul")}>
                {say("annul")}
              </Button>
            ) : null}
            {may.menu ? <Button onPress={() => (open.value = "menu")}>{say("menu")}</Button> : null}
          </nav>
        </section>
      </main>
      {open.value === "search" ? <SearchSheet device={device} onClose={close} /> : null}
      {open.value === "history" ? <HistorySheet onClose={close} /> : null}
      {open.value === "annul" ? <AnnulSheet device={device} onClose={close} /> : null}
      {open.value === "doubtful" ? <DoubtfulSheet onClose={close} /> : null}
      {open.value === "menu" ? <MenuSheet device={device} onClose={close} /> : null}
      <VerdictView device={device} gates={gates.value} />
    </>
  );
}

function Header({ device }: { readonly device: KeptDevice }) {
  const { chosen, gate } = device;
  return (
    <header class="head row">
      <div class="grow">
        <h1>{chosen?.listName}</h1>
        <p class="quiet">
          {chosen?.eventName} · {gate === null ? say("no_gate") : say("gate", { gate })}
        </p>
      </div>
      <p class={`connection ${connection.value}`} role="status">
        {say(connection.value)}
      </p>
    </header>
  );
}

function Directions() {
  return (
    <fieldset class="row directions">
      <legend class="unseen">{say("mode")}</legend>
      {(["entry", "exit"] as const).map((type) => (
        <Button
          key={type}
          more="grow"
          isOn={direction.value === type}
          onPress={() => {
            direction.value = type;
          }}
        >
          {say(type)}
        </Button>
      ))}
    </fieldset>
  );
}

/** Says what happens to the scan that is under way. */
function sayProgress(): string {
  const { value } = scan;
  if (value.at !== "asking") return restingCode.value === undefined ? "" : say("resting");
  if (value.waitsFor !== undefined) return say(value.waitsFor === "network" ? "waiting_network" : "waiting_server");
  return value.isSlow ? `${say("asking_title")}: ${say("asking")}` : say("asking_title");
}

/** Reads scanners that work as keyboards, wherever the focus is but in a field. */
function listenForWedge(isFree: () => boolean): () => void {
  const buffer = new WedgeBuffer();
  let endedAt = Number.NEGATIVE_INFINITY;
  const listen = (event: KeyboardEvent) => {
    const isInField = event.target instanceof Element && event.target.closest("input, textarea, select") !== null;
    const pressed = toPressedKey(event);
    if (isInField || !isFree() || pressed === undefined) return;
    const keys = buffer.press(pressed, event.timeStamp);
    // The keys that end a code press no button: some scanners send two.
    if (keys !== undefined) endedAt = event.timeStamp;
    if ((event.key === "Enter" || event.key === "Tab") && event.timeStamp - endedAt <= longestPauseMs)
      event.preventDefault();
    if (keys !== undefined) readKeys(keys);
  };
  addEventListener("keydown", listen, { capture: true });
  return () => removeEventListener("keydown", listen, { capture: true });
}

/** Tells that the clock is wrong, and by how much. */
function Clock() {
  const trouble = clockTrouble(clockAhead.value);
  return (
    <p class="notice unsure" role="alert" hidden={trouble === undefined}>
      {trouble === undefined ? "" : say(trouble.isFast ? "clock_fast" : "clock_slow", { span: saySpan(trouble.byMs) })}
    </p>
  );
}

/** Tells that the scanner and this device have different layouts, until a person has read it. */
function Mistyped() {
  const { value } = mistyping;
  if (value === undefined) return null;
  const { isCaps, scanner, here } = value;
  const names = {
    scanner: say(`layout_${scanner}`),
    here: here === undefined ? say("layout_other") : say(`layout_${here}`),
  };
  return (
    <div class="notice unsure row" role="alert">
      <p class="grow">{isCaps ? say("layout_caps") : say("layout_told", names)}</p>
      <Button onPress={dismissMistyping}>{say("understood")}</Button>
    </div>
  );
}

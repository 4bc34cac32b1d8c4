import { useSignal } from "@preact/signals";
import { Button } from "../../ui/button.tsx";
import { lose } from "../scan-session.ts";
import { say, sayTime } from "../scan-speech.ts";
import type { KeptDevice } from "../set-up/kept-device.ts";
import { dropFromHistory, findLastAdmitted } from "./last-scans.ts";
import { ScanSheet } from "./scan-sheet.tsx";
import { type Annulled, annulScan } from "./tickets-on-list.ts";

interface AnnulOptions {
  readonly device: KeptDevice;
  readonly onClose: () => void;
}

/** Takes back the last scan that was admitted, with a reason that is stored with it. */
export function AnnulSheet({ device, onClose }: AnnulOptions) {
  const past = useSignal(findLastAdmitted());
  const reason = useSignal("");
  const result = useSignal<Annulled | "asked" | "unsaid" | undefined>(undefined);
  async function send() {
    if (past.value === undefined) return;
    if (reason.value.trim() === "") {
      result.value = "unsaid";
      return;
    }
    result.value = "asked";
    const answer = await annulScan(device, past.value, reason.value.trim());
    if (answer.kind === "revoked" || answer.kind === "unknown") return lose(answer.kind);
    if (answer.kind === "done") dropFromHistory(past.value);
    result.value = answer;
  }
  const isDone = typeof result.value === "object" && result.value.kind === "done";
  const { verdict, at } = past.value ?? {};
  return (
    <ScanSheet title={say("annul_title")} onClose={onClose} foot={<Button onPress={onClose}>{say("close")}</Button>}>
      {verdict === undefined || at === undefined ? (
        <p>{say("annul_none")}</p>
      ) : (
        <p>{say("annul_what", { name: verdict.ticket?.name ?? verdict.ticket?.order ?? "", time: sayTime(at) })}</p>
      )}
      {isDone || past.value === undefined ? null : (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          <label class="labelled">
            <span>{say("annul_reason")}</span>
            <input
              class="field"
              type="text"
              autocomplete="off"
              autofocus
              maxLength={1000}
              value={reason.value}
              onInput={(event) => {
                reason.value = event.currentTarget.value;
              }}
            />
          </label>
          <Button submits isStrong isOff={result.value === "asked"}>
            {say("annul_go")}
          </Button>
        </form>
      )}
      <p role="status" class="attention">
        {sayResult(result.value)}
      </p>
    </ScanSheet>
  );
}

function sayResult(result: Annulled | "asked" | "unsaid" | undefined): string {
  if (result === undefined) return "";
  if (result === "asked") return say("asking");
  if (result === "unsaid") return say("annul_needs_reason");
  if (result.kind === "done") return say("annul_done");
  if (result.kind === "late") return say("annul_late");
  if (result.kind === "refused") return say("failed_other", { detail: result.detail });
  return say(result.kind === "offline" ? "failed_offline" : "failed_busy");
}

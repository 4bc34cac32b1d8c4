import { Button } from "../../ui/button.tsx";
import { say, sayLocalized, sayReason, sayTime } from "../scan-speech.ts";
import { lastScans, type PastVerdict } from "./last-scans.ts";
import { ScanSheet } from "./scan-sheet.tsx";

/** The last scans of this visit, the newest first. */
export function HistorySheet({ onClose }: { readonly onClose: () => void }) {
  return (
    <ScanSheet
      title={say("history")}
      onClose={onClose}
      foot={
        <Button isFirst onPress={onClose}>
          {say("close")}
        </Button>
      }
    >
      {lastScans.value.length === 0 ? <p>{say("history_none")}</p> : null}
      <ol class="stack">
        {lastScans.value.map((past) => (
          <li key={past.attempt.nonce} class={`past ${past.verdict.kind}`}>
            <PastScan past={past} />
          </li>
        ))}
      </ol>
    </ScanSheet>
  );
}

function PastScan({ past: { at, attempt, verdict } }: { readonly past: PastVerdict }) {
  const { kind, reason, ticket } = verdict;
  const word = kind === "admitted" ? say(attempt.type === "exit" ? "left" : "admitted") : say(kind);
  return (
    <>
      <p>
        <strong>
          {sayTime(at)} {word}
        </strong>
        {kind === "refused" ? `: ${sayReason(reason)}` : ""}
      </p>
      {verdict.isHere === true ? <p>{say("decided_here")}</p> : null}
      <p class="quiet">
        {ticket === undefined
          ? attempt.code.slice(0, 24)
          : [ticket.name, sayLocalized(ticket.product), ticket.order].filter(Boolean).join(" · ")}
      </p>
    </>
  );
}

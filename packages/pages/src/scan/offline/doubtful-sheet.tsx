import { Button } from "../../ui/button.tsx";
import { say, sayReason, sayTime } from "../scan-speech.ts";
import { ScanSheet } from "../sheets/scan-sheet.tsx";
import { doubtfulScans, dropScans } from "./kept-scans.ts";

/** Scans that this page admitted, and that the server would have refused: doubles, above all. */
export function DoubtfulSheet({ onClose }: { readonly onClose: () => void }) {
  const scans = doubtfulScans();
  async function clear() {
    await dropScans(new Set(scans.map(({ nonce }) => nonce)));
    onClose();
  }
  return (
    <ScanSheet title={say("doubtful_title")} onClose={onClose} foot={<Button onPress={onClose}>{say("close")}</Button>}>
      <p>{say("doubtful_text")}</p>
      <ol class="stack">
        {scans.map(({ nonce, at, code, objection = "" }) => (
          <li key={nonce} class="past refused">
            <p>
              <strong>
                {sayTime(at)} {sayReason(objection)}
              </strong>
            </p>
            <p class="quiet">{say("doubtful_code", { code: `…${code.slice(-6)}` })}</p>
          </li>
        ))}
      </ol>
      <Button isFirst isStrong onPress={() => void clear()}>
        {say("doubtful_seen")}
      </Button>
    </ScanSheet>
  );
}

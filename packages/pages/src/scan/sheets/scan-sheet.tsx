import { Sheet, type SheetOptions } from "../../ui/sheet.tsx";
import { stage } from "../scan-session.ts";
import { say } from "../scan-speech.ts";
import { connection } from "../server/ask-server.ts";

/** A sheet over the page at work. Above it stand the list and the gate: a crew never has to close it to see where it scans. */
export function ScanSheet(options: Omit<SheetOptions, "head">) {
  return <Sheet {...options} head={<Where />} />;
}

function Where() {
  const { value } = stage;
  if (value.at !== "scanning") return null;
  const { chosen, gate } = value.device;
  return (
    <div class="where">
      <p class="grow">
        <strong>{chosen?.listName}</strong>
        <span class="quiet">{gate === null ? say("no_gate") : say("gate", { gate })}</span>
      </p>
      {connection.value === "online" ? null : <p class={`connection ${connection.value}`}>{say(connection.value)}</p>}
    </div>
  );
}

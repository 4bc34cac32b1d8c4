import { Button } from "../ui/button.tsx";
import { Sheet } from "../ui/sheet.tsx";
import { say, sayNumber, sayShare, saySpan } from "./board-speech.ts";
import type { DeviceRow, GateRow, Trouble } from "./gate-rows.ts";
import type { LastHour } from "./live.ts";
import { fillHour } from "./minutes.ts";
import { RateChart } from "./rate-chart.tsx";

/** One gate: its last hour, and its devices. */
export function GateSheet({
  row,
  hour,
  now,
  onClose,
}: {
  readonly row: GateRow;
  readonly hour: LastHour | undefined;
  readonly now: number;
  readonly onClose: () => void;
}) {
  const foot = <Button onPress={onClose}>{say("close")}</Button>;
  return (
    <Sheet title={row.name} look="gate" onClose={onClose} foot={foot}>
      <p class="quiet">{say("last_hour")}</p>
      {hour === undefined ? null : (
        <RateChart columns={fillHour(hour, row.gate)} title={say("last_hour_of", { gate: row.name })} />
      )}
      <h3>{say("devices")}</h3>
      <ul class="stack">
        {row.devices.map((device) => (
          <Device key={device.device_id} device={device} now={now} />
        ))}
      </ul>
    </Sheet>
  );
}

function Device({ device, now }: { readonly device: DeviceRow; readonly now: number }) {
  const { device_id, name, entries, exits, refused, last_scan, troubles } = device;
  return (
    <li class="device">
      <strong>{name ?? `${say("device")} ${device_id}`}</strong>
      <span>
        {say("entries")} {sayNumber(entries)} · {say("exits")} {sayNumber(exits)} · {say("refused")}{" "}
        {sayNumber(refused)}
      </span>
      <span class="quiet">
        {say("last_scan")}:{" "}
        {last_scan === null ? say("never") : say("ago", { span: saySpan(now - Date.parse(last_scan)) })}
      </span>
      <span class={troubles.length > 0 ? "warn" : "quiet"}>
        {troubles.length > 0 ? troubles.map(sayTrouble).join(", ") : say("well")}
      </span>
    </li>
  );
}

function sayTrouble(trouble: Trouble): string {
  switch (trouble.kind) {
    case "queued":
      return say("queued", { count: sayNumber(trouble.count) });
    case "low_battery":
      return say("low_battery", { percent: sayShare(trouble.percent / 100) });
    case "not_heard":
    case "behind":
      return say(trouble.kind, { span: saySpan(trouble.ms) });
  }
}

import type { Clock } from "@tessera/kit/clock";
import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import type { Metrics } from "@tessera/kit/telemetry/metrics";
import { keepSample } from "@tessera/kit/telemetry/sample";
import { type GateHealth, summarizeGates } from "../store/device-contacts.ts";

const everyMs = 10_000;

/** Each gate has four series. */
const mostGates = 500;

const shown: Readonly<Record<string, readonly [help: string, read: (gate: GateHealth) => number | null]>> = {
  gate_silent_seconds: [
    "How long the device of the gate was silent that is silent longest.",
    (gate) => gate.silentSeconds,
  ],
  gate_synced_seconds: [
    "How long ago the device of the gate had all changes that lacks them longest.",
    (gate) => gate.syncedSeconds,
  ],
  gate_queued_scans: ["Scans that the devices of the gate have still to upload.", (gate) => gate.queue],
  gate_battery_percent: ["The lowest battery of the devices of the gate.", (gate) => gate.battery],
};

/** Shows how the devices of gates are; gates whose devices are put away, and what no device has reported, have no series. */
export function measureDevices({
  db,
  clock,
  metrics,
}: {
  readonly db: Db;
  readonly clock: Clock;
  readonly metrics: Metrics;
}): Job {
  const sample = keepSample<ReadonlyMap<string, GateHealth>>(clock);
  const declare = (
    labels: { readonly organizer: string; readonly gate: string },
    now?: () => GateHealth | undefined,
  ) => {
    for (const [name, [help, read]] of Object.entries(shown)) {
      const collect = () => {
        const gate = now?.();
        const value = gate === undefined ? null : read(gate);
        if (value === null) throw new Error("no device has told it");
        return value;
      };
      metrics.gauge(name, help, collect, labels);
    }
  };
  // A scrape names metrics also while they have no series.
  declare({ organizer: "", gate: "" });
  return {
    name: "measure-devices",
    everyMs,
    async run() {
      const gates = await summarizeGates(db, { most: mostGates });
      sample.keep(new Map(gates.map((gate) => [keyOf(gate), gate])));
      for (const gate of gates) {
        const labels = { organizer: gate.organizer, gate: gate.gate === null ? "" : String(gate.gate) };
        declare(labels, () => sample.read().get(keyOf(gate)));
      }
    },
  };
}

const keyOf = ({ organizer, gate }: GateHealth) => JSON.stringify([organizer, gate]);

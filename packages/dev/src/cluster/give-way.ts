import { giveWay } from "@tessera/kit/give-way";

/** The services that every scan passes. */
const ofGates: ReadonlySet<string> = new Set(["gateway", "checkin"]);

/** Has a process that was just started give way to those that gates need. */
export async function giveWayToGates(service: string, pid: number): Promise<void> {
  if (!ofGates.has(service)) await giveWay(pid);
}

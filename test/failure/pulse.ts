import { ofOrganizer } from "../e2e/sample-records.ts";
import { toLines } from "./festival.ts";

/** A record that changes only a name: its import shows whether facts arrive. */
export function pulseRecord(name: string): string {
  const token = `pulse-key-${"p".repeat(40)}`;
  return toLines([ofOrganizer("api_key", { token, name, permissions: ["*"], all_events: true })]);
}

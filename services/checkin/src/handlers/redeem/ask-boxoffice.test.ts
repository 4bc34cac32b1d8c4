import { Fault, type FaultKind } from "@tessera/kit/fault";
import { expect, it } from "vitest";
import { askBoxoffice } from "./ask-boxoffice.ts";

/** Asks a boxoffice that fails for the organizer "slow"; returns for whose codes it is asked. */
function asking(kind: FaultKind) {
  const asked: string[] = [];
  const unknown = askBoxoffice({
    tickets: {
      async findTickets({ tickets }) {
        const [{ organizer } = { organizer: "" }] = tickets;
        asked.push(organizer);
        if (organizer === "slow") throw new Fault(kind, kind, "no answer");
        return { facts: [] };
      },
    },
    apply: async () => {},
    clock: { now: () => 0 },
    events: { ticketsNotFound() {} },
  });
  return { asked, ask: (organizer: string) => unknown.fetch({ organizer, event: "e", code: "code" }) };
}

it("[C3.16] boxoffice rests from an organizer for which it is too slow, and is asked for the others", async () => {
  const { asked, ask } = asking("timeout");
  for (const organizer of ["slow", "slow", "other"]) await ask(organizer);
  expect(asked).toEqual(["slow", "other"]);
});

it("[C3.16] boxoffice is asked for nothing while it cannot be reached", async () => {
  const { asked, ask } = asking("unavailable");
  for (const organizer of ["slow", "other"]) await ask(organizer);
  expect(asked).toEqual(["slow"]);
});

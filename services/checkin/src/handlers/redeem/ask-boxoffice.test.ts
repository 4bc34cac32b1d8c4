import { Fault, type FaultKind } from "@tessera/kit/fault";
import { expect, it } from "vitest";
import { askBoxoffice } from "./ask-boxoffice.ts";

/** Asks a boxoffice that fails for the organizer "slow"; returns for whose codes it was asked. */
function asking(kind: FaultKind) {
  const asked: string[] = [];
  const codes: number[] = [];
  const unknown = askBoxoffice({
    tickets: {
      async findTickets({ tickets }) {
        const [{ organizer } = { organizer: "" }] = tickets;
        asked.push(organizer);
        codes.push(tickets.length);
        if (organizer === "slow") throw new Fault(kind, kind, "no answer");
        return { facts: [] };
      },
    },
    apply: async () => {},
    clock: { now: () => 0 },
    events: { ticketsNotFound() {} },
  });
  const ask = (organizer: string, code = "code") => unknown.fetch({ organizer, event: "e", code });
  return { asked, codes, ask };
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

it("[C3.16] boxoffice is asked for each code of a turn once, and for no more than 64 in a call", async () => {
  const { codes, ask } = asking("timeout");
  await Promise.all(Array.from({ length: 200 }, (_, index) => ask("other", `code-${index % 100}`)));
  expect(codes).toEqual([64, 36]);
});

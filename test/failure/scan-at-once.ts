import type { Dice } from "@tessera/testkit/dice";
import { expect } from "vitest";
import type { Ticket } from "./festival.ts";
import { sendScan } from "./gates.ts";
import type { Attempt } from "./scan-history.ts";

/** Makes unique names of scans. */
export function drawNonces(dice: Dice, count: number): string[] {
  return Array.from({ length: count }, () => `together-${dice.below(2 ** 31)}-${dice.below(2 ** 31)}`);
}

/** Scans one ticket once per nonce, all at the same moment and over all processes. */
export async function scanAtOnce({
  baseUrls,
  ticket,
  nonces,
}: {
  readonly baseUrls: readonly string[];
  readonly ticket: Ticket;
  readonly nonces: readonly string[];
}): Promise<Attempt[]> {
  return Promise.all(
    nonces.map(async (nonce, index) => {
      const scan = { gate: 100 + index, nonce, list: 1, position: ticket.position, type: "entry" as const };
      const invokedAt = performance.now();
      const { outcome, oddity } = await sendScan({ baseUrl: baseUrls[index % baseUrls.length] ?? "", scan, ticket });
      expect(oddity).toBeUndefined();
      return { scan, invokedAt, endedAt: performance.now(), outcome };
    }),
  );
}

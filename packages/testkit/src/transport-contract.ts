import type { Implementation, Transport } from "@tessera/kit/rpc";
import { describe } from "vitest";
import { callsInTime } from "./transport/deadlines.ts";
import { errorsOfCalls } from "./transport/errors.ts";
import { loadAndShutdown } from "./transport/load.ts";
import { messagesOfCalls } from "./transport/messages.ts";
import { reportsOfCalls } from "./transport/reports.ts";
import { type Arrangement, serveEachTest, type Watch } from "./transport/serve-each-test.ts";

/**
 * Tests the promises of every transport.
 *
 * `makeTransport` serves the implementations and opens the transport to them. `toMissing` opens the transport to a service
 * that does not exist.
 */
export function transportContract(
  name: string,
  makeTransport: (implementations: readonly Implementation[], watch: Watch) => Promise<Arrangement>,
  { toMissing }: { toMissing: () => Transport },
): void {
  describe(`transport contract: ${name}`, () => {
    const served = serveEachTest(makeTransport);
    messagesOfCalls(served);
    errorsOfCalls(served);
    callsInTime(served);
    reportsOfCalls(served);
    loadAndShutdown(served, { toMissing });
  });
}

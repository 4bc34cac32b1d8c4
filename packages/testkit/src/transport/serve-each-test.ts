import type { Observe } from "@tessera/engines/grpc/answer-call";
import { connect, type Handlers, type Implementation, implement, type Transport } from "@tessera/kit/rpc";
import type { Fields, Log } from "@tessera/kit/telemetry/log";
import { type CaughtUpRequest, FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import type { Record as WireRecord } from "@tessera/protos/gen/ticketing/records/v1/records";
import { Records } from "@tessera/protos/services";
import { afterEach } from "vitest";

/** A transport under test with its services. */
export interface Arrangement {
  readonly transport: Transport;
  /** Stops the services gracefully and leaves the transport open. */
  readonly close: () => Promise<void>;
}

/** Collects the reports of the services under test. */
export interface Watch {
  readonly log: Log;
  readonly observe: Observe;
}

interface Line {
  readonly level: "error" | "warn" | "info" | "debug";
  readonly message: string;
  readonly fields: Fields;
}

type ApplyRecords = Handlers<typeof Records>["applyRecords"];
type MarkFacts = Handlers<typeof FactsServiceService>["markFacts"];
type CaughtUp = Handlers<typeof FactsServiceService>["caughtUp"];

/** Services behind the transport under test. */
export interface Served extends ReturnType<typeof serveEachTest> {}

/** Serves what a test asks for, until the test ends. */
export function serveEachTest(
  makeTransport: (implementations: readonly Implementation[], watch: Watch) => Promise<Arrangement>,
) {
  const cleanUps: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  });

  async function arrange(implementations: readonly Implementation[]) {
    const lines: Line[] = [];
    const observed: Parameters<Observe>[0][] = [];
    const arrangement = await makeTransport(implementations, {
      log: recordInto(lines),
      observe: (call) => observed.push(call),
    });
    cleanUps.push(async () => {
      await arrangement.close();
      await arrangement.transport.close();
    });
    return { ...arrangement, lines, observed };
  }

  async function records(applyRecords: ApplyRecords) {
    const arrangement = await arrange([
      implement(Records, { applyRecords, validateRecords: async () => ({ outcome: undefined, brought: [] }) }),
    ]);
    return { ...arrangement, client: connect(Records, arrangement.transport) };
  }

  async function facts(handlers: { markFacts?: MarkFacts; caughtUp?: CaughtUp }) {
    const idle = async () => ({ caughtUp: true });
    const { transport } = await arrange([
      implement(FactsServiceService, {
        markFacts: handlers.markFacts ?? (async () => ({ marker: "", partitions: [] })),
        caughtUp: handlers.caughtUp ?? idle,
      }),
    ]);
    return connect(FactsServiceService, transport);
  }

  return { cleanUps, arrange, records, facts };
}

export const caughtUp: CaughtUpRequest = { marker: "", partitions: [] };

export function record(given: Partial<WireRecord>): WireRecord {
  return { line: 1, kind: "", organizer: "", event: "", deleted: false, data: new Uint8Array(), ...given };
}

function recordInto(lines: Line[], context: Fields = {}): Log {
  const at = (level: Line["level"]) => (message: string, fields?: Fields) => {
    lines.push({ level, message, fields: { ...context, ...fields } });
  };
  return {
    error: at("error"),
    warn: at("warn"),
    info: at("info"),
    debug: at("debug"),
    with: (fields) => recordInto(lines, { ...context, ...fields }),
  };
}

import type { FindOverbookedRequest, FindOverbookedResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/quotas";
import type {
  FindAmbiguousSecretsRequest,
  FindAmbiguousSecretsResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/tickets";
import type {
  ApplyRecordsRequest,
  ApplyRecordsResponse,
  ValidateRecordsRequest,
  ValidateRecordsResponse,
} from "@tessera/protos/gen/ticketing/records/v1/records";
import type { ImportTargets } from "../import/import-stream.ts";
import { batchTurns } from "../import/owners.ts";

type Validate = (request: ValidateRecordsRequest) => Promise<ValidateRecordsResponse>;
type Apply = (request: ApplyRecordsRequest) => Promise<ApplyRecordsResponse>;

/** Owners that accept everything, and record what happened in order. */
export function fakeTargets(
  overrides: {
    boxoffice?: Apply;
    checkin?: Apply;
    voucher?: Apply;
    layout?: Apply;
    validate?: Validate;
    markFacts?: () => Promise<unknown>;
    caughtUp?: () => Promise<{ caughtUp: boolean }>;
    findOverbooked?: (request: FindOverbookedRequest) => Promise<FindOverbookedResponse>;
    findAmbiguousSecrets?: (request: FindAmbiguousSecretsRequest) => Promise<FindAmbiguousSecretsResponse>;
  } = {},
) {
  const happened: string[] = [];
  const owner = (name: "boxoffice" | "checkin" | "voucher" | "layout") => ({
    records: {
      applyRecords: async (request: ApplyRecordsRequest) => {
        happened.push(`${name} begins ${request.records.length}`);
        const response = await (overrides[name]?.(request) ?? Promise.resolve({ rejected: [] }));
        happened.push(`${name} ends ${request.records.map(({ line }) => line).join()}`);
        return response;
      },
      validateRecords: async (request: ValidateRecordsRequest) => {
        happened.push(`${name} validates ${request.records.map(({ line }) => line).join()}`);
        return overrides.validate?.(request) ?? { outcome: { rejected: [] }, brought: [] };
      },
    },
    facts: {
      markFacts: async () => {
        happened.push(`${name} marks`);
        await overrides.markFacts?.();
        return { marker: "m", partitions: [] };
      },
    },
    turns: batchTurns(),
  });
  const targets: ImportTargets = {
    isOperatorKey: () => false,
    owners: {
      boxoffice: { ...owner("boxoffice"), after: [] },
      checkin: { ...owner("checkin"), after: ["boxoffice"] },
      voucher: { ...owner("voucher"), after: ["boxoffice"] },
      "layout-and-render": { ...owner("layout"), after: ["boxoffice"] },
    },
    readers: new Map([
      ["boxoffice", async () => ({ caughtUp: true })],
      ["checkin", overrides.caughtUp ?? (async () => ({ caughtUp: true }))],
    ]),
    quotas: { findOverbooked: overrides.findOverbooked ?? (async () => ({ quotas: [] })) },
    tickets: { findAmbiguousSecrets: overrides.findAmbiguousSecrets ?? (async () => ({ secrets: [] })) },
  };
  return { targets, happened };
}

export const item = (id: number, more: object = {}) =>
  JSON.stringify({ kind: "item", organizer: "o", event: "e", data: { id }, ...more });

export const list = (id: number) => JSON.stringify({ kind: "checkin_list", organizer: "o", event: "e", data: { id } });

export async function* stream(lines: Iterable<string>): AsyncIterable<Uint8Array> {
  for (const line of lines) yield Buffer.from(`${line}\n`);
}

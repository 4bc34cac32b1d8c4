import { mostMessageBytes } from "@tessera/engines/grpc/message-size";
import { connect, implement, type Method } from "@tessera/kit/rpc";
import type { RedeemRequest, RedeemResponse, Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { ApplyRecordsRequest } from "@tessera/protos/gen/ticketing/records/v1/records";
import { Scans } from "@tessera/protos/services";
import { describe, expect, it } from "vitest";
import { faultOf } from "../fault-of.ts";
import { implementSome } from "../implement-some.ts";
import { record, type Served } from "./serve-each-test.ts";

/** Tests what a transport carries. */
export function messagesOfCalls({ arrange, records }: Served): void {
  describe("messages", () => {
    it("carries large integers, bytes and Unicode both ways", async () => {
      let received: ApplyRecordsRequest | undefined;
      const { client } = await records(async (request) => {
        received = request;
        return {
          rejected: request.records.map(({ line, kind }) => ({
            line,
            errors: [{ field: kind, messages: [kind, ""] }],
          })),
        };
      });
      const data = Uint8Array.from({ length: 256 }, (_, byte) => byte);
      const sent = [
        record({ line: 2 ** 31, kind: "Zoë 🎫 \u0000 \u202e العربية e\u0301", data }),
        record({ line: Number.MAX_SAFE_INTEGER, kind: "" }),
        record({ line: -1, deleted: true }),
      ];
      const { rejected } = await client.applyRecords({ records: sent });
      expect(received?.records.map((each) => ({ ...each, data: [...each.data] }))).toEqual(
        sent.map((each) => ({ ...each, data: [...each.data] })),
      );
      expect(rejected).toEqual(
        sent.map(({ line, kind }) => ({ line, errors: [{ field: kind, messages: [kind, ""] }] })),
      );
    });

    it("carries empty messages", async () => {
      const { client } = await records(async () => ({ rejected: [] }));
      expect(await client.applyRecords({ records: [] })).toEqual({ rejected: [] });
    });

    it("distinguishes zero and empty from absent", async () => {
      let received: RedeemRequest | undefined;
      const { transport } = await arrange([
        implementSome(Scans, {
          redeem: async (request) => {
            received = request;
            return { outcome: refusal(request.scan?.nonce) };
          },
        }),
      ]);
      for (const sent of [scan({ at: 0, nonce: "", gate: 0 }), scan({})]) {
        expect(await connect(Scans, transport).redeem({ scan: sent })).toEqual({ outcome: refusal(sent.nonce) });
        expect(received).toEqual({ scan: sent });
      }
    });

    it("delivers copies", async () => {
      let received: Uint8Array | undefined;
      const { client } = await records(async (request) => {
        received = request.records[0]?.data;
        received?.fill(9);
        return { rejected: [] };
      });
      const data = Uint8Array.of(1, 2, 3);
      await client.applyRecords({ records: [record({ data })] });
      expect(received).toHaveLength(3);
      expect([...data]).toEqual([1, 2, 3]);
    });

    it("tolerates enum values and fields it does not know", async () => {
      let received: RedeemRequest | undefined;
      const unknownField = Buffer.from([0xfa, 0x3f, 0x03, 0x61, 0x62, 0x63]); // field 1023, three bytes
      const service = {
        redeem: {
          ...Scans.redeem,
          responseSerialize: (value: RedeemResponse) =>
            Buffer.concat([Scans.redeem.responseSerialize(value), unknownField]),
        },
      };
      const { transport } = await arrange([
        implement(service, {
          redeem: async (request) => {
            received = request;
            return { outcome: refusal("known") };
          },
        }),
      ]);
      const scanOfType99 = Buffer.from([0x0a, 0x02, 0x30, 99]);
      const method: Method<RedeemRequest, RedeemResponse> = {
        ...Scans.redeem,
        requestSerialize: () => Buffer.concat([scanOfType99, unknownField]),
      };
      const response = await transport.call(method, { scan: undefined }, {});
      expect(response).toEqual({ outcome: refusal("known") });
      expect(received?.scan?.type).toBe("UNRECOGNIZED");
    });

    it("carries four megabytes both ways", async () => {
      const data = new Uint8Array(4 * 1024 * 1024).fill(7);
      const { client } = await records(async (request) => ({
        rejected: [
          { line: request.records[0]?.data.length ?? 0, errors: [{ field: "x".repeat(data.length), messages: [] }] },
        ],
      }));
      const { rejected } = await client.applyRecords({ records: [record({ data })] });
      expect(rejected[0]?.line).toBe(data.length);
      expect(rejected[0]?.errors[0]?.field).toHaveLength(data.length);
    });

    it("refuses a request beyond the limit", async () => {
      let handled = 0;
      const { client } = await records(async () => {
        handled += 1;
        return { rejected: [] };
      });
      const data = new Uint8Array(mostMessageBytes);
      const fault = await faultOf(client.applyRecords({ records: [record({ data })] }));
      expect(fault).toMatchObject({ kind: "unmet", code: "message_too_large" });
      expect(handled).toBe(0);
      expect(await client.applyRecords({ records: [] })).toEqual({ rejected: [] });
    });

    it("refuses a response beyond the limit", async () => {
      const { client } = await records(async () => ({
        rejected: [{ line: 1, errors: [{ field: "x".repeat(mostMessageBytes), messages: [] }] }],
      }));
      const fault = await faultOf(client.applyRecords({ records: [] }));
      expect(fault).toMatchObject({ kind: "unmet", code: "message_too_large" });
    });
  });
}

function scan(given: Partial<Scan>): Scan {
  return {
    organizer: "",
    event: "",
    list: 1,
    lookup: "",
    untrustedInput: false,
    type: "SCAN_TYPE_ENTRY",
    force: false,
    ignoreUnpaid: false,
    canceledSupported: false,
    questionsSupported: false,
    answers: [],
    sourceType: "barcode",
    useOrderLocale: false,
    ...given,
  };
}

function refusal(explanation: string | undefined): ScanOutcome {
  return {
    outcome: { $case: "refused", value: { reason: "blocked", explanation } },
    list: undefined,
    position: undefined,
    checkinTexts: [],
  };
}

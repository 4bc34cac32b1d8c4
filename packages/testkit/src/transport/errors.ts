import { Fault, type FaultKind } from "@tessera/kit/fault";
import { connect } from "@tessera/kit/rpc";
import { FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import type { ApplyRecordsResponse } from "@tessera/protos/gen/ticketing/records/v1/records";
import { describe, expect, it } from "vitest";
import { errorOf, faultOf } from "../fault-of.ts";
import type { Served } from "./serve-each-test.ts";

const kinds: readonly FaultKind[] = [
  "invalid",
  "unauthenticated",
  "forbidden",
  "not_found",
  "conflict",
  "unmet",
  "exhausted",
  "unavailable",
  "timeout",
];

const secret = "hunter2-correct-horse";

/** Tests what a caller is told of a failure. */
export function errorsOfCalls({ records }: Served): void {
  describe("errors", () => {
    it.each(kinds)("carries a fault of kind %s", async (kind) => {
      const fields = {
        zulu: ["first", "second"],
        "alpha.0.name": ["Größe 🎫 unzulässig"],
        non_field_errors: ["100 % wrong\n"],
      };
      const { client } = await records(async () => {
        throw new Fault(kind, "some_code", "Größe: 100% 🎫\nsecond line", {
          fields,
          retryAfterMs: 1250,
          cause: new Error(secret),
        });
      });
      const fault = await faultOf(client.applyRecords({ records: [] }));
      expect(fault).toMatchObject({
        kind,
        code: "some_code",
        message: "Größe: 100% 🎫\nsecond line",
        retryAfterMs: 1250,
      });
      expect(fault.fields).toEqual(fields);
      expect(Object.keys(fault.fields ?? {})).toEqual(Object.keys(fields));
      expect(everythingIn(fault)).not.toContain(secret);
    });

    it("carries a fault with nothing but its code", async () => {
      const { client } = await records(async () => {
        throw new Fault("unmet", "not_now", "");
      });
      const fault = await faultOf(client.applyRecords({ records: [] }));
      expect(fault).toMatchObject({
        kind: "unmet",
        code: "not_now",
        message: "",
        fields: undefined,
        retryAfterMs: undefined,
      });
    });

    it("carries a fault with a thousand field errors, and counts those that it left out", async () => {
      const fields = Object.fromEntries(
        Array.from({ length: 1000 }, (_, row) => [`records.${row}`, ["недопустимое значение"]]),
      );
      const { client } = await records(async () => {
        throw new Fault("invalid", "invalid_records", "й".repeat(10_000), { fields });
      });
      const fault = await faultOf(client.applyRecords({ records: [] }));
      expect(fault).toMatchObject({ kind: "invalid", code: "invalid_records" });
      const { non_field_errors: rest, ...kept } = fault.fields ?? {};
      const names = Object.keys(kept);
      expect(names.length).toBeGreaterThan(20);
      expect(names).toEqual(Object.keys(fields).slice(0, names.length));
      expect(rest).toEqual([`and ${1000 - names.length} more`]);
    });

    it.each([
      ["rejects", () => Promise.reject(new TypeError(`cannot read password ${secret}`))],
      [
        "throws",
        () => {
          throw new TypeError(`cannot read password ${secret}`);
        },
      ],
      [
        "rejects with no error",
        async () => {
          AbortSignal.abort(secret).throwIfAborted();
          return { rejected: [] };
        },
      ],
      ["answers with no message", () => Promise.resolve(undefined as unknown as ApplyRecordsResponse)],
    ] as const)(
      "says nothing of a bug: a handler that %s",
      async (_what, handler: () => Promise<ApplyRecordsResponse>) => {
        const { client, lines } = await records(handler);
        const error = await errorOf(client.applyRecords({ records: [] }));
        expect(error).not.toBeInstanceOf(Fault);
        expect(error.message).toBe("internal error in /ticketing.records.v1.RecordsService/ApplyRecords");
        expect(everythingIn(error)).not.toContain(secret);
        expect(lines.filter(({ level }) => level === "error")).toHaveLength(1);
      },
    );

    it("names a method that the peer does not implement", async () => {
      const { transport } = await records(async () => ({ rejected: [] }));
      const error = await errorOf(connect(FactsServiceService, transport).markFacts({}));
      expect(error).not.toBeInstanceOf(Fault);
      expect(error.message).toBe("the peer does not implement /platform.v1.FactsService/MarkFacts");
    });
  });
}

function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return [error.message, error.stack, JSON.stringify(error), everythingIn(error.cause)].join("\n");
}

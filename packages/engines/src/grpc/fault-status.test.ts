import { Metadata, status } from "@grpc/grpc-js";
import { Fault, type FaultKind } from "@tessera/kit/fault";
import { BadRequest, ErrorInfo, RetryInfo } from "@tessera/protos/gen/google/rpc/error_details";
import { Status } from "@tessera/protos/gen/google/rpc/status";
import { describe, expect, it } from "vitest";
import { canceled, fromStatus, toStatus, type WireStatus } from "./fault-status.ts";
import { detailsKey } from "./metadata-keys.ts";

const path = "/platform.v1.FactsService/MarkFacts";

const table: Readonly<Record<FaultKind, string>> = {
  invalid: "INVALID_ARGUMENT",
  unauthenticated: "UNAUTHENTICATED",
  forbidden: "PERMISSION_DENIED",
  not_found: "NOT_FOUND",
  conflict: "ABORTED",
  unmet: "FAILED_PRECONDITION",
  exhausted: "RESOURCE_EXHAUSTED",
  unavailable: "UNAVAILABLE",
  timeout: "DEADLINE_EXCEEDED",
};

function roundTrip(fault: Fault): Fault {
  const error = fromStatus(toStatus(fault), path);
  if (error instanceof Fault) return error;
  throw error;
}

/** The bytes both headers take on the wire. */
function trailerLength({ message, details }: WireStatus): number {
  return `grpc-message${encodeURI(message)}${detailsKey}`.length + (details?.toString("base64").length ?? 0);
}

describe("toStatus", () => {
  it.each(Object.entries(table) as [FaultKind, string][])("maps %s to %s and back", (kind, name) => {
    const wire = toStatus(new Fault(kind, "code", "message"));
    expect(wire).toMatchObject({ name, code: status[name as keyof typeof status], message: "message" });
    expect(fromStatus(wire, path)).toMatchObject({ kind, code: "code", message: "message" });
  });

  it("uses the standard error model, which other clients read", () => {
    const { details } = toStatus(
      new Fault("invalid", "invalid_list", "the list is wrong", {
        fields: { name: ["a", "b"], id: ["c"] },
        retryAfterMs: 1250,
      }),
    );
    const decoded = Status.decode(details ?? Buffer.alloc(0));
    expect(decoded).toMatchObject({ code: 3, message: "the list is wrong" });
    const [info, badRequest, retryInfo] = decoded.details;
    expect(decoded.details.map(({ typeUrl }) => typeUrl)).toEqual([
      "type.googleapis.com/google.rpc.ErrorInfo",
      "type.googleapis.com/google.rpc.BadRequest",
      "type.googleapis.com/google.rpc.RetryInfo",
    ]);
    expect(ErrorInfo.decode(info?.value ?? new Uint8Array())).toEqual({
      reason: "invalid_list",
      domain: "tessera",
      metadata: {},
    });
    expect(BadRequest.decode(badRequest?.value ?? new Uint8Array()).fieldViolations).toEqual([
      { field: "name", description: "a" },
      { field: "name", description: "b" },
      { field: "id", description: "c" },
    ]);
    expect(RetryInfo.decode(retryInfo?.value ?? new Uint8Array()).retryDelay).toEqual({
      seconds: 1,
      nanos: 250_000_000,
    });
  });

  it.each([
    ["a bug", new TypeError("password hunter2")],
    ["a string", "hunter2"],
    ["nothing", undefined],
    ["a look-alike", { name: "Fault", kind: "invalid", code: "hunter2", message: "hunter2" }],
  ])("says nothing of %s", (_what, thrown) => {
    const wire = toStatus(thrown);
    expect(wire).toEqual({ code: status.INTERNAL, name: "INTERNAL", message: "internal error", details: undefined });
  });

  it.each([
    ["long ASCII", "a".repeat(100_000)],
    ["long Cyrillic", "й".repeat(100_000)],
    ["long emoji", "🎫".repeat(100_000)],
    ["per cent signs", "%".repeat(100_000)],
  ])("keeps the trailer below 6 KiB: %s everywhere", (_what, text) => {
    const wire = toStatus(
      new Fault("invalid", text, text, {
        fields: {
          [text]: [text, text],
          ...Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`field_${i}`, [text]])),
        },
        retryAfterMs: Number.MAX_SAFE_INTEGER,
      }),
    );
    expect(trailerLength(wire)).toBeLessThan(6 * 1024);
    const metadata = new Metadata();
    metadata.set(detailsKey, wire.details ?? "");
    expect(fromStatus(wire, path)).toMatchObject({ kind: "invalid" });
  });

  it("fills the trailer with small violations and counts those it leaves out", () => {
    const wire = toStatus(
      new Fault("invalid", "x", "x", {
        fields: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`f${i}`, ["bad"]])),
      }),
    );
    expect(trailerLength(wire)).toBeLessThan(6 * 1024);
    expect(trailerLength(wire)).toBeGreaterThan(4 * 1024);
    const { fields = {} } = fromStatus(wire, path) as Fault;
    const kept = Object.keys(fields).length - 1;
    expect(fields["non_field_errors"]).toEqual([`and ${5000 - kept} more`]);
  });

  it("cuts between characters", () => {
    const { message, fields } = roundTrip(
      new Fault("invalid", "x", "🎫".repeat(1000), { fields: { f: ["й".repeat(1000)] } }),
    );
    expect(message).toMatch(/^(🎫)+…$/u);
    expect(fields?.["f"]?.[0]).toMatch(/^й+…$/);
  });

  it.each([["\ud800"], ["a\udc00b"], ["\u0000\r\n\t"], ["%E0%A4%A"], ["%25 and %23"]])(
    "survives the message %j",
    (message) => {
      expect(() => encodeURI(toStatus(new Fault("invalid", "x", message)).message)).not.toThrow();
      expect(roundTrip(new Fault("invalid", "x", message)).message).toBe(message.toWellFormed());
    },
  );
});

describe("fromStatus", () => {
  it("takes a request of ours that the peer could not read for a bug, which no client can correct", () => {
    const error = fromStatus(toStatus(new Fault("invalid", "invalid_request", "no message")), path);
    expect(error).not.toBeInstanceOf(Fault);
    expect(error.message).toBe(`the peer could not read a request to ${path}`);
  });

  it("keeps several messages per field, their order and strange names", () => {
    const fields = JSON.parse(
      '{ "b": ["2", "1"], "a.0.x": ["3"], "__proto__": ["4"], "constructor": ["5"], "": ["6"] }',
    );
    const received = roundTrip(new Fault("invalid", "x", "x", { fields })).fields ?? {};
    expect(Object.entries(received)).toEqual(Object.entries(fields));
    expect(Object.getPrototypeOf(received)).toBe(Object.prototype);
  });

  it.each([
    [0, 0],
    [1, 1],
    [999.6, 1000],
    [-5, 0],
    [3_600_000, 3_600_000],
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
  ])("carries a pause of %d ms as %s", (retryAfterMs, received) => {
    expect(roundTrip(new Fault("exhausted", "x", "x", { retryAfterMs })).retryAfterMs).toBe(received);
  });

  const refusals: readonly string[] = [table.unauthenticated, table.forbidden];
  const bare = Object.entries(table).filter(([, name]) => !refusals.includes(name));

  it.each(bare as [FaultKind, string][])("makes a fault of kind %s of a bare %s", (kind, name) => {
    const code = status[name as keyof typeof status];
    const error = fromStatus({ code, message: "10.0.0.7:50051 refused", details: undefined }, path);
    expect(error).toMatchObject({ kind, cause: { message: `${path}: 10.0.0.7:50051 refused` } });
    expect(error.message).not.toContain("10.0.0.7");
  });

  it.each(refusals)("[S11.5] tells a refused process from a refused user: a bare %s", (name) => {
    const code = status[name as keyof typeof status];
    const error = fromStatus({ code, message: "no certificate", details: undefined }, path);
    expect(error).toMatchObject({ kind: "unavailable", code: "peer_refuses" });
  });

  it("takes a cancellation that we did not ask for as the peer's going away", () => {
    expect(fromStatus(canceled, path)).toMatchObject({ kind: "unavailable", code: "peer_unavailable" });
  });

  it.each([["INTERNAL"], ["UNKNOWN"], ["DATA_LOSS"], ["OUT_OF_RANGE"]] as const)(
    "takes %s for a bug of the peer",
    (name) => {
      const error = fromStatus({ code: status[name], message: "oops", details: undefined }, path);
      expect(error).not.toBeInstanceOf(Fault);
      expect(error.message).toBe(`internal error in ${path}`);
    },
  );

  it.each([
    ["no protobuf", Buffer.from("certainly no protobuf")],
    ["empty", Buffer.alloc(0)],
    ["of another domain", details({ reason: "theirs", domain: "googleapis.com", metadata: {} })],
  ])("falls back on the code where the details are %s", (_what, bytes) => {
    const error = fromStatus({ code: status.NOT_FOUND, message: "gone", details: bytes }, path);
    expect(error).toMatchObject({ kind: "not_found", code: "not_found", fields: undefined });
  });
});

function details(info: ErrorInfo): Buffer {
  const value = ErrorInfo.encode(info).finish();
  return Buffer.from(
    Status.encode({
      code: 5,
      message: "m",
      details: [{ typeUrl: "type.googleapis.com/google.rpc.ErrorInfo", value }],
    }).finish(),
  );
}

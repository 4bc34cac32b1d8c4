import pg from "pg";
import { describe, expect, it } from "vitest";
import { Fault } from "../fault.ts";
import { breaksConnection, isRetryable, toFault } from "./failure.ts";

/** What the driver throws when the server refuses. */
function refusal(code: string, more: { routine?: string } = {}): Error {
  return Object.assign(new pg.DatabaseError("message of the server", 0, "error"), { code, ...more });
}

/** What the network throws. */
function outage(code: string, syscall: string): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
}

describe("toFault", () => {
  it.each([
    ["40001", "conflict", "concurrent_change", 1000],
    ["40P01", "conflict", "concurrent_change", 1000],
    ["55P03", "conflict", "locked", 5000],
    ["57014", "timeout", "database_timeout", undefined],
    ["57P01", "unavailable", "database_unavailable", 1000],
    ["57P03", "unavailable", "database_unavailable", 1000],
    ["53300", "unavailable", "database_unavailable", 1000],
    ["53100", "unavailable", "database_full", 5000],
    ["58030", "unavailable", "database_unavailable", 1000],
    ["25006", "unavailable", "database_unavailable", 1000],
    ["25P03", "unavailable", "database_unavailable", 1000],
    ["08006", "unavailable", "database_unavailable", 1000],
    ["28P01", "unavailable", "database_unavailable", 1000],
  ])("turns %s into %s", (code, kind, faultCode, retryAfterMs) => {
    const cause = refusal(code);
    const fault = toFault(cause);
    expect(fault).toBeInstanceOf(Fault);
    expect(fault).toMatchObject({ kind, code: faultCode, retryAfterMs, cause });
  });

  it("tells a database that takes no changes from one that is away", () => {
    expect(toFault(refusal("25006"))).toMatchObject({ message: expect.stringContaining("takes no changes") });
    expect(toFault(refusal("08006"))).toMatchObject({ message: "the database cannot be reached" });
  });

  it.each([
    outage("ECONNREFUSED", "connect"),
    outage("ECONNRESET", "read"),
    outage("EPIPE", "write"),
    outage("ENOENT", "connect"),
    outage("EACCES", "connect"),
    outage("CERT_HAS_EXPIRED", "connect"),
    outage("SELF_SIGNED_CERT_IN_CHAIN", "connect"),
    outage("UNABLE_TO_VERIFY_LEAF_SIGNATURE", "connect"),
    outage("ERR_TLS_CERT_ALTNAME_INVALID", "connect"),
    outage("ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "read"),
    new Error("The server does not support SSL connections"),
    Object.assign(new AggregateError([], ""), { code: "ECONNREFUSED" }),
    new Error("Connection terminated unexpectedly"),
    new Error("Connection terminated due to connection timeout"),
    new Error("timeout expired"),
    new Error("Query read timeout"),
    new Error("Client has encountered a connection error and is not queryable"),
  ])("turns the loss of the connection into unavailable: %s", (error) => {
    expect(toFault(error)).toMatchObject({ kind: "unavailable", cause: error });
    expect(breaksConnection(error)).toBe(true);
  });

  it("tells that all connections are in use from a database that is away", () => {
    const cause = new Error("timeout exceeded when trying to connect");
    expect(toFault(cause)).toMatchObject({ kind: "unavailable", code: "database_busy", retryAfterMs: 1000, cause });
  });

  it("says what to do about a statement that took too long", () => {
    expect(String(toFault(refusal("57014")))).toMatch(/took too long: ask for less at once, or try again later/);
  });

  it("never repeats what the server said, which may quote values", () => {
    for (const code of ["40001", "55P03", "57014", "53100"]) {
      expect(String(toFault(refusal(code)))).not.toContain("message of the server");
    }
  });

  it.each([
    refusal("23505"),
    refusal("42P01"),
    refusal("22021"),
    outage("ENOENT", "open"),
    new TypeError("undefined is not a function"),
    new Error("the message said: Connection terminated"),
  ])("leaves a bug as it is: %s", (error) => {
    expect(toFault(error)).toBe(error);
    expect(breaksConnection(error)).toBe(false);
    expect(isRetryable(error)).toBe(false);
  });

  it("leaves a fault, and what is no error at all, as it is", () => {
    const fault = new Fault("not_found", "list_not_found", "no such list", { cause: refusal("57P01") });
    expect(toFault(fault)).toBe(fault);
    expect(toFault(undefined)).toBe(undefined);
    expect(toFault("57P01")).toBe("57P01");
  });
});

describe("isRetryable", () => {
  it.each([
    [refusal("40001"), true],
    [refusal("40P01"), true],
    [refusal("0A000", { routine: "RevalidateCachedQuery" }), true],
    [refusal("23514", { routine: "ExecPartitionCheckEmitError" }), true],
    [refusal("0A000"), false],
    [refusal("23514"), false],
    [refusal("55P03"), false],
    [refusal("57P01"), false],
    [new Fault("conflict", "concurrent_change", "lost", { cause: refusal("40001") }), false],
  ])("%s: %s", (error, expected) => {
    expect(isRetryable(error)).toBe(expected);
  });
});

describe("breaksConnection", () => {
  it.each([
    ["57P01", true],
    ["25006", true],
    ["57014", false],
    ["40001", false],
    ["55P03", false],
    ["25P02", false],
  ])("%s: %s", (code, expected) => {
    expect(breaksConnection(refusal(code))).toBe(expected);
  });

  it("gives up a connection whose prepared statements are out of date", () => {
    expect(breaksConnection(refusal("0A000", { routine: "RevalidateCachedQuery" }))).toBe(true);
  });
});

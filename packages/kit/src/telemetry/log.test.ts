import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { Secret } from "../config/redacted.ts";
import { runInContext } from "../context.ts";
import { Fault } from "../fault.ts";
import { createLog, type Fields, type Log, type LogLevel } from "./log.ts";

interface Line {
  readonly [name: string]: unknown;
  readonly error: Record<string, unknown>;
}

function listen(level: LogLevel = "debug"): { log: Log; lines: string[]; last(): Line } {
  const lines: string[] = [];
  const log = createLog({ service: "checkin", level, destination: { write: (line) => lines.push(line) } });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? "null") as Line };
}

/** What is written of one field called `value`. */
function written(value: unknown): unknown {
  const { log, lines, last } = listen();
  log.info("said", { value });
  expect(lines).toHaveLength(1);
  return last()["value"];
}

/** What is written of an error. */
function writtenError(error: unknown): Record<string, unknown> {
  const { log, last } = listen();
  log.error("broken", { error });
  return last().error;
}

describe("a line", () => {
  it("is one JSON object with time, level, service and message", () => {
    const { log, lines, last } = listen();
    log.info("list\ncreated", { list: 7, note: "a\nb" });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.indexOf("\n")).toBe((lines[0]?.length ?? 0) - 1);
    const { time, ...rest } = last();
    expect(rest).toEqual({ level: "info", service: "checkin", list: 7, note: "a\nb", message: "list\ncreated" });
    expect(new Date(time as string).toISOString()).toBe(time);
    expect(Math.abs(Date.parse(time as string) - Date.now())).toBeLessThan(10_000);
  });

  it.each([
    ["error", ["error"]],
    ["warn", ["error", "warn"]],
    ["info", ["error", "warn", "info"]],
    ["debug", ["error", "warn", "info", "debug"]],
  ] as const)("is written at %s and above", (level, expected) => {
    const { log, lines } = listen(level);
    for (const name of ["debug", "info", "warn", "error"] as const) log[name]("said");
    const levels = lines.map((line) => (JSON.parse(line) as Line)["level"]);
    expect(new Set(levels)).toEqual(new Set(expected));
    expect(levels).toHaveLength(expected.length);
  });

  it("costs nothing below the level", () => {
    const { log, lines } = listen("info");
    log.debug("said", {
      get expensive(): never {
        throw new Error("was read");
      },
    });
    expect(lines).toEqual([]);
  });

  it("keeps a message as it is, placeholders and all", () => {
    const { log, last } = listen();
    log.info("100 %s %d %j done", { a: 1 });
    expect(last()["message"]).toBe("100 %s %d %j done");
  });

  it("carries the trace of the work it was written in", () => {
    const { log, last } = listen();
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    runInContext({ traceparent: `00-${trace}-00f067aa0ba902b7-01` }, () => log.info("said"));
    expect(last()["trace"]).toBe(trace);
    runInContext({ traceparent: 'garbage", "level":"error' }, () => log.info("said"));
    expect(last()).not.toHaveProperty("trace");
    log.info("said");
    expect(last()).not.toHaveProperty("trace");
  });
});

describe("fields", () => {
  it("of `with` are on every line, the nearest winning, each once", () => {
    const { log, lines, last } = listen();
    const inner = log.with({ organizer: "acme", list: 1 }).with({ list: 2 });
    inner.info("said", { scan: 5 });
    expect(last()).toMatchObject({ service: "checkin", organizer: "acme", list: 2, scan: 5 });
    inner.info("said", { list: 3 });
    expect(last()["list"]).toBe(3);
    expect(lines.at(-1)?.match(/"list"/g)).toHaveLength(1);
    log.info("said");
    expect(last()).not.toHaveProperty("organizer");
  });

  it("may name another service", () => {
    const { log, lines, last } = listen();
    log.with({ service: "voucher" }).info("said");
    expect(last()["service"]).toBe("voucher");
    expect(lines.at(-1)?.match(/"service"/g)).toHaveLength(1);
  });

  it("cannot pose as the line's own", () => {
    const { log, lines, last } = listen();
    log.warn("said", { level: "debug", time: 1, message: "other", trace: "t" });
    expect(last()).toMatchObject({
      level: "warn",
      message: "said",
      level_: "debug",
      time_: 1,
      message_: "other",
      trace_: "t",
    });
    expect(lines[0]?.match(/"message"/g)).toHaveLength(1);
  });

  it.each(["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"])("may be called %s", (name) => {
    const { log, last } = listen();
    log.info(
      "said",
      Object.fromEntries([
        [name, 'a"b'],
        ["after", { [name]: 1 }],
      ]),
    );
    expect(Object.entries(last())).toContainEqual([`${name}_`, 'a"b']);
    expect(last()["after"]).toBeDefined();
  });

  it("that look like an HTTP request are fields all the same", () => {
    const { log, last } = listen();
    log.info("said", { method: "GET", headers: { host: "a" }, socket: {}, setHeader: () => {} });
    expect(last()).toMatchObject({ method: "GET", headers: { host: "a" }, socket: {}, setHeader: "[function]" });
  });

  it.each([
    ["a secret", { deep: [new Secret("hunter2")] }, { deep: ["[secret]"] }],
    ["deep secrets", { deep: new Map([["name", new Secret("Ada")]]) }, { deep: { name: "[secret]" } }],
    ["a secret as a key", new Map([[new Secret("hunter2"), 1]]), { "[secret]": 1 }],
    [
      "bytes",
      { key: Buffer.from("hunter2"), part: new Uint8Array(3), raw: new ArrayBuffer(4) },
      { key: "[7 bytes]", part: "[3 bytes]", raw: "[4 bytes]" },
    ],
    ["BigInt", 2n ** 70n, "1180591620717411303424"],
    ["what is no number", [Number.NaN, Number.POSITIVE_INFINITY, -0], ["NaN", "Infinity", 0]],
    ["half a surrogate pair", "a\ud800b", "a\ufffdb"],
    ["half a surrogate pair in a key", { "\udc00": 1 }, { "\ufffd": 1 }],
    ["a whole pair", "🎪", "🎪"],
    ["nothing", [undefined, null, { a: undefined }], [null, null, {}]],
    ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
    ["a date that is none", [new Date(Number.NaN)], [null]],
    ["a set", new Set([1, "a"]), [1, "a"]],
    ["a symbol and a function", [Symbol("s"), () => 1], ["Symbol(s)", "[function]"]],
    ["an object without prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ["a circular list", circularList(), [1, "[circular]"]],
    ["one object twice, which is no circle", twice({ a: 1 }), { first: { a: 1 }, second: { a: 1 } }],
    [
      "a throwing getter",
      {
        a: 1,
        get b(): never {
          throw new Error("no");
        },
      },
      { a: 1, b: "[unreadable]" },
    ],
    [
      "a throwing toJSON",
      {
        toJSON: () => {
          throw new Error("no");
        },
      },
      "[unreadable]",
    ],
    ["a toJSON of another kind", { toJSON: () => 5n }, "5"],
    ["a hostile proxy", hostileProxy(), "[unreadable]"],
    ["a revoked proxy", revokedProxy(), "[unreadable]"],
  ])("may hold %s", (_what, value, expected) => {
    expect(written(value)).toEqual(expected);
  });

  it("may themselves be hostile", () => {
    const { log, last } = listen();
    log.info("said", hostileProxy() as Fields);
    expect(last()).toMatchObject({ message: "said", fields: "[unreadable]" });
    log.info("said", null as unknown as Fields);
    expect(last()["message"]).toBe("said");
  });

  it("are cut where they grow too long, wide or deep", () => {
    const { log, lines } = listen();
    log.info("said", { value: "🎪".repeat(1_000_000) });
    log.info("said", { value: Array.from({ length: 1_000_000 }, () => "x") });
    log.info("said", {
      value: Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index])),
    });
    let nest: unknown = "core";
    for (let depth = 0; depth < 10_000; depth += 1) nest = { nest };
    log.info("said", { value: nest });
    log.info("x".repeat(1_000_000));
    expect(lines).toHaveLength(5);
    for (const line of lines) {
      expect(Buffer.byteLength(line)).toBeLessThan(40_000);
      expect(() => JSON.parse(line) as unknown).not.toThrow();
      expect(line).toMatch(/more\]|\[cut\]|\[too deep\]/);
    }
  });
});

describe("an error", () => {
  it("is told with its stack and the chain of its causes", () => {
    const root = Object.assign(new Error("connect ECONNREFUSED 10.0.0.1:5432"), {
      code: "ECONNREFUSED",
      syscall: "connect",
      errno: -111,
      address: "10.0.0.1",
      port: 5432,
    });
    const middle = new TypeError("no pool", { cause: root });
    const error = writtenError(new Error("cannot start", { cause: middle }));
    expect(error).toMatchObject({
      name: "Error",
      message: "cannot start",
      stack: expect.stringContaining("log.test.ts") as string,
      cause: {
        name: "TypeError",
        message: "no pool",
        stack: expect.stringContaining("log.test.ts") as string,
        cause: {
          code: "ECONNREFUSED",
          syscall: "connect",
          address: "10.0.0.1",
          port: 5432,
          message: "connect ECONNREFUSED 10.0.0.1:5432",
        },
      },
    });
  });

  it("leaves away what libraries hang on it", () => {
    const error = Object.assign(new Error("failed"), {
      config: { headers: { authorization: "Token hunter2" } },
      request: { body: "Ada" },
    });
    expect(JSON.stringify(writtenError(error))).not.toMatch(/hunter2|Ada/);
  });

  it("of several names each", () => {
    const error = writtenError(
      new AggregateError([new Error("one"), new Fault("timeout", "slow", "two")], "all failed"),
    );
    expect(error).toMatchObject({
      message: "all failed",
      errors: [{ message: "one" }, { kind: "timeout", message: "two" }],
    });
  });

  it("that is its own cause ends", () => {
    const error = new Error("round");
    error.cause = error;
    expect(writtenError(error)["cause"]).toBe("[circular]");
  });

  it("with a thousand causes ends too", () => {
    let error = new Error("first");
    for (let count = 0; count < 1000; count += 1) error = new Error("next", { cause: error });
    expect(JSON.stringify(writtenError(error)).length).toBeLessThan(40_000);
  });

  it("with hostile properties is told as far as possible", () => {
    const error = new Error("broken");
    for (const name of ["stack", "code", "cause"]) {
      Object.defineProperty(error, name, {
        get() {
          throw new Error("no");
        },
      });
    }
    expect(writtenError(error)).toMatchObject({ message: "broken", stack: "[unreadable]" });
  });

  it("may be anything that was thrown", () => {
    const { log, last } = listen();
    for (const thrown of ["text", 5, undefined, null, Symbol("s")]) log.error("broken", { error: thrown });
    expect(last()["error"]).toBe("Symbol(s)");
  });

  it("that is a Fault is told without its stack, its cause with one", () => {
    const fault = new Fault("invalid", "list_invalid", "the list is not valid", {
      fields: { "products.0": ["Ada is no product"] },
      retryAfterMs: 10,
      cause: new Error("deeper"),
    });
    const { cause, ...error } = writtenError(fault);
    expect(error).toEqual({
      name: "Fault",
      kind: "invalid",
      code: "list_invalid",
      message: "the list is not valid",
      fields: ["products.0"],
      retryAfterMs: 10,
    });
    expect(cause).toMatchObject({ message: "deeper", stack: expect.stringContaining("log.test.ts") as string });
  });
});

describe("what Postgres refused", () => {
  const personal = "ada@example.org";

  function refusal(message = `invalid input syntax for type integer: "${personal}"`): pg.DatabaseError {
    return Object.assign(new pg.DatabaseError(message, 200, "error"), {
      severity: "ERROR",
      code: "22P02",
      detail: `Key (email)=(${personal}) already exists.`,
      hint: `Perhaps you meant ${personal}.`,
      where: `COPY answer, line 1, column value: "${personal}"`,
      internalQuery: `select '${personal}'`,
      parameters: [personal],
      query: `insert ${personal}`,
      schema: "boxoffice",
      table: "answer",
      column: "value",
      constraint: "answer_key",
      routine: "pg_strtoint32",
      file: "numutils.c",
    });
  }

  const named = {
    code: "22P02",
    severity: "ERROR",
    schema: "boxoffice",
    table: "answer",
    column: "value",
    constraint: "answer_key",
    routine: "pg_strtoint32",
  };

  it("is told by its code and the names of things, never by what it quotes", () => {
    const error = writtenError(refusal());
    expect(error).toMatchObject(named);
    expect(Object.keys(error).sort()).toEqual([...Object.keys(named), "name", "stack"].sort());
    expect(error["stack"]).toMatch(/^ {4}at .*log\.test\.ts/m);
    expect(JSON.stringify(error)).not.toContain(personal);
  });

  it("names the table to which a right is missing", () => {
    const missing = Object.assign(new pg.DatabaseError("permission denied for table scan", 200, "error"), {
      severity: "ERROR",
      code: "42501",
      routine: "aclcheck_error",
    });
    expect(writtenError(missing)).toMatchObject({ code: "42501", message: "permission denied for table scan" });
  });

  it.each([
    ["as a cause", () => new Error("cannot save", { cause: refusal() })],
    [
      "as a Fault's cause",
      () => new Fault("timeout", "database_timeout", "the database took too long", { cause: refusal() }),
    ],
    ["among several", () => new AggregateError([refusal(), new Error("other", { cause: refusal() })])],
    ["in a list", () => [{ failures: [refusal()] }]],
    ["with lines like a stack in its message", () => refusal(`x\n    at ${personal} (file:///a)\n    at ${personal}`)],
    ["with another message later", () => reword(refusal(), "failed")],
    ["with a shorter message later", () => reword(refusal(), "invalid input")],
    ["without its message later", () => reword(refusal(`x\n    at ${personal}`), "")],
    ["in a subclass", () => Object.assign(new (class Failure extends Error {})(personal), { code: "P0001" })],
    ["as an object", () => Object.assign({ message: personal }, refusal())],
  ])("quotes nothing %s", (_where, make) => {
    const text = JSON.stringify([writtenError(make()), written(make())]);
    expect(text).not.toContain(personal);
    expect(text).toMatch(/22P02|P0001/);
  });

  it("is not confused with an operating system error of five letters", () => {
    const error = Object.assign(new Error("write EPIPE"), { code: "EPIPE", errno: -32, syscall: "write" });
    expect(writtenError(error)).toMatchObject({ code: "EPIPE", message: "write EPIPE", syscall: "write" });
  });
});

describe("where lines go", () => {
  it("may fail without disturbing the work", () => {
    const log = createLog({
      service: "checkin",
      destination: {
        write() {
          throw new Error("disk full");
        },
      },
    });
    expect(() => log.error("broken", { error: new Error("x") })).not.toThrow();
  });

  const script = (work: string) => [
    "--conditions=source",
    "--input-type=module",
    "--eval",
    `import { createLog } from ${JSON.stringify(new URL("./log.ts", import.meta.url).href)};
     const log = createLog({ service: "checkin" });
     ${work}`,
  ];

  it("is standard output, written before the process is killed", async () => {
    const child = spawn(process.execPath, script(`log.info("said", { a: 1 }); process.kill(process.pid, "SIGKILL");`), {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const output = await text(child.stdout);
    expect(JSON.parse(output)).toMatchObject({ message: "said", a: 1, service: "checkin" });
  });

  it("may be closed without ending the process", async () => {
    const child = spawn(
      process.execPath,
      script(`
        (await import("node:fs")).closeSync(1);
        for (let line = 0; line < 20; line += 1) log.info("said");
        await new Promise((resolve) => setTimeout(resolve, 5));
        process.stderr.write("lived");`),
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    const [errors] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect(errors).toBe("lived");
    expect(child.exitCode).toBe(0);
  });

  it("may vanish without ending the process", async () => {
    const child = spawn(
      process.execPath,
      script(`
        for (let round = 0; round < 50; round += 1) {
          for (let line = 0; line < 20; line += 1) log.info("said", { filler: "x".repeat(4000) });
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        process.stderr.write("lived");`),
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    child.stdout.destroy();
    const [errors] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect(errors).toBe("lived");
    expect(child.exitCode).toBe(0);
  });
});

/** Changes a message after the stack was written with the first one. */
function reword(error: Error, message: string): Error {
  expect(error.stack).toContain(error.message);
  error.message = message;
  return error;
}

function circularList(): unknown[] {
  const list: unknown[] = [1];
  list.push(list);
  return list;
}

function twice(value: unknown): unknown {
  return { first: value, second: value };
}

function hostileProxy(): object {
  const refuse = () => {
    throw new Error("no");
  };
  return new Proxy(
    {},
    { get: refuse, ownKeys: refuse, getPrototypeOf: refuse, has: refuse, getOwnPropertyDescriptor: refuse },
  );
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

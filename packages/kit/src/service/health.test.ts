import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Fault } from "../fault.ts";
import { createLog } from "../telemetry/log.ts";
import { createHealth, type Health } from "./health.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  const left = vi.getTimerCount();
  vi.useRealTimers();
  if (left > 0) throw new Error(`${left} timers left behind`);
});

function serving(): Health {
  const health = createHealth();
  health.startedUp();
  return health;
}

describe("stages", () => {
  it("go from starting over serving to draining, ready only between", async () => {
    const health = createHealth();
    const check = vi.fn<() => Promise<void>>(async () => {});
    health.dependency("database", check);
    expect(await health.ready()).toEqual({ ready: false, stage: "starting", dependencies: { database: "ok" } });
    health.startedUp();
    expect(await health.ready()).toEqual({ ready: true, stage: "serving", dependencies: { database: "ok" } });
    health.draining();
    expect(await health.ready()).toEqual({ ready: false, stage: "draining", dependencies: {} });
    expect(check).toHaveBeenCalledTimes(1);
  });

  it("do not go back", async () => {
    const health = serving();
    health.draining();
    health.startedUp();
    expect((await health.ready()).ready).toBe(false);
  });

  it("are told as they are when the answer is given", async () => {
    const health = serving();
    const answer = Promise.withResolvers<void>();
    health.dependency("database", () => answer.promise);
    const asked = health.ready();
    health.draining();
    answer.resolve();
    expect(await asked).toMatchObject({ ready: false, stage: "draining" });
  });

  it("need no dependency", async () => {
    expect(await serving().ready()).toEqual({ ready: true, stage: "serving", dependencies: {} });
  });
});

describe("a dependency", () => {
  it("that is away makes the process unready, with its Fault's message", async () => {
    const health = serving();
    health.dependency("database", async () => {
      throw new Fault("unavailable", "database_unavailable", "the database cannot be reached");
    });
    health.dependency("bus", async () => {});
    expect(await health.ready()).toEqual({
      ready: false,
      stage: "serving",
      dependencies: { database: "the database cannot be reached", bus: "ok" },
    });
  });

  it.each([
    ["an error", () => new Error("connect to postgres://ada:hunter2@10.0.0.1 refused")],
    ["a thing that is no error", () => "hunter2"],
    ["nothing", () => undefined],
  ])("failing with %s tells nothing of it", async (_what, thrown) => {
    const health = serving();
    health.dependency("database", () => Promise.resolve().then(() => Promise.reject(thrown() as Error)));
    const readiness = await health.ready();
    expect(readiness.ready).toBe(false);
    expect(readiness.dependencies).toEqual({ database: "failed; the log says why" });
  });

  it("may throw before it promises anything", async () => {
    const health = serving();
    health.dependency("database", () => {
      throw new Error("not a promise");
    });
    expect((await health.ready()).ready).toBe(false);
  });

  it("is declared once", () => {
    const health = createHealth();
    health.dependency("database", async () => {});
    expect(() => health.dependency("database", async () => {})).toThrow("the dependency database is declared twice");
  });

  it("may have any name", async () => {
    const health = serving();
    health.dependency("__proto__", async () => {});
    expect(Object.entries((await health.ready()).dependencies)).toEqual([["__proto__", "ok"]]);
  });

  it("that is well is not asked again for a second", async () => {
    const health = serving();
    const check = vi.fn<() => Promise<void>>(async () => {});
    health.dependency("database", check);
    await health.ready();
    await vi.advanceTimersByTimeAsync(998);
    await health.ready();
    expect(check).toHaveBeenCalledTimes(1);
    // The clock has fractions.
    await vi.advanceTimersByTimeAsync(3);
    await health.ready();
    expect(check).toHaveBeenCalledTimes(2);
  });

  it("that is away is asked every time, so that recovery shows at once", async () => {
    const health = serving();
    let away = true;
    health.dependency("database", async () => {
      if (away) throw new Error("away");
    });
    expect((await health.ready()).ready).toBe(false);
    away = false;
    expect((await health.ready()).ready).toBe(true);
  });

  it("is asked once by many at the same time", async () => {
    const health = serving();
    const answer = Promise.withResolvers<void>();
    const check = vi.fn<() => Promise<void>>(() => answer.promise);
    health.dependency("database", check);
    const asked = Array.from({ length: 20 }, () => health.ready());
    answer.resolve();
    expect((await Promise.all(asked)).every((readiness) => readiness.ready)).toBe(true);
    expect(check).toHaveBeenCalledTimes(1);
  });

  it("that hangs is away after two seconds, and told so by its signal", async () => {
    const health = serving();
    let signal: AbortSignal | undefined;
    health.dependency("database", (given) => {
      signal = given;
      return new Promise(() => {});
    });
    const asked = health.ready();
    await vi.advanceTimersByTimeAsync(1999);
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await asked).toMatchObject({ ready: false, dependencies: { database: "no answer within 2 seconds" } });
    expect(signal?.aborted).toBe(true);
  });

  it("that hangs holds up no other", async () => {
    const health = serving();
    const other = vi.fn<() => Promise<void>>(async () => {});
    health.dependency("database", () => new Promise(() => {}));
    health.dependency("bus", other);
    const asked = health.ready();
    await vi.advanceTimersByTimeAsync(0);
    expect(other).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(2000);
    expect((await asked).dependencies["bus"]).toBe("ok");
  });

  it("that hangs is not asked again by every probe, but again when it has settled or half a minute later", async () => {
    const health = serving();
    const answers: (() => void)[] = [];
    const check = vi.fn<() => Promise<void>>(() => new Promise((resolve) => answers.push(resolve)));
    health.dependency("database", check);
    for (let probe = 0; probe < 5; probe += 1) {
      const asked = health.ready();
      await vi.advanceTimersByTimeAsync(2000);
      expect((await asked).ready).toBe(false);
    }
    expect(check).toHaveBeenCalledTimes(1);
    answers[0]?.();
    await vi.advanceTimersByTimeAsync(0);
    const second = health.ready();
    expect(check).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(30_000);
    expect((await second).ready).toBe(false);
    const third = health.ready();
    expect(check).toHaveBeenCalledTimes(3);
    // That the one given up settles after all says nothing of the one under way.
    answers[1]?.();
    await vi.advanceTimersByTimeAsync(0);
    const alongside = health.ready();
    expect(check).toHaveBeenCalledTimes(3);
    answers[2]?.();
    expect([(await third).ready, (await alongside).ready]).toEqual([true, true]);
  });
});

it("logs a loss and a recovery once, the loss with its cause", async () => {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const health = createHealth({ log: createLog({ service: "checkin", destination }) });
  health.startedUp();
  let away = true;
  health.dependency("database", async () => {
    if (away) throw new Error("connection refused");
  });
  for (let probe = 0; probe < 3; probe += 1) await health.ready();
  away = false;
  for (let probe = 0; probe < 3; probe += 1) {
    await health.ready();
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(lines).toMatchObject([
    { level: "warn", message: "dependency lost", dependency: "database", error: { message: "connection refused" } },
    { level: "info", message: "dependency back", dependency: "database" },
  ]);
});

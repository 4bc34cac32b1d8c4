import { type Finding, only } from "@tessera/kit/service/finding";
import { describe, expect, it } from "vitest";
import { explainFailure } from "../command/explain-failure.ts";
import { skewByDate } from "../local/ask-http.ts";
import { describeDifference, describeLag } from "./examine-bus.ts";
import { judgeConnections, judgeServer, type ServerState } from "./examine-database.ts";
import { judgeReadiness, judgeSkew } from "./examine-processes.ts";
import { judgeWaiting } from "./examine-services.ts";
import { judgeFree, judgeOwner, judgeRedis } from "./examine-stores.ts";

const say = (findings: readonly (Finding | false)[]) => only(findings).map(({ level, what }) => `${level}: ${what}`);

describe("clocks", () => {
  it("may be a second apart, and not five", () => {
    expect(say([0, 1000, -1000, undefined].map((ms) => judgeSkew("it", ms)))).toEqual([]);
    expect(say([judgeSkew("the server", 1600)])).toEqual([
      "warning: the clock of the server is 1.6 seconds ahead of the clock of this machine",
    ]);
    expect(say([judgeSkew("the server", -5100)])).toEqual([
      "wrong: the clock of the server is 5.1 seconds behind the clock of this machine",
    ]);
  });

  it("are off by an HTTP date only as far as its whole second proves", () => {
    const date = "Sat, 01 Feb 2025 10:00:05 GMT";
    const at = Date.parse(date);
    expect(skewByDate(date, { asked: at + 900, answered: at + 990 })).toBe(0);
    expect(skewByDate(date, { asked: at - 3000, answered: at - 2000 })).toBe(2000);
    expect(skewByDate(date, { asked: at + 8000, answered: at + 9000 })).toBe(-7000);
    expect(skewByDate("yesterday", { asked: 0, answered: 0 })).toBeUndefined();
    expect(skewByDate(null, { asked: 0, answered: 0 })).toBeUndefined();
  });
});

describe("a database server", () => {
  const good: ServerState = {
    version: "18.1",
    number: 180_001,
    encoding: "UTF8",
    standby: false,
    readonly: false,
    most: 97,
    reserved: 3,
    used: 30,
    trigrams: "installed",
    knowsAllScripts: true,
  };

  it("is refused when it is old, cannot write every name, only reads, or lacks what search needs", () => {
    expect(judgeServer(good)).toEqual([]);
    const bad = { ...good, version: "14.9", number: 140_009, encoding: "LATIN1", standby: true };
    expect(say(judgeServer({ ...bad, trigrams: "available" }))).toEqual([
      "wrong: PostgreSQL 14.9 is too old",
      "wrong: the database stores texts as LATIN1",
      "wrong: this server is a standby",
      "wrong: the extension pg_trgm is not installed in this database",
    ]);
    expect(judgeServer({ ...good, trigrams: "absent", readonly: true }).map(({ mend }) => mend)).toEqual([
      expect.stringMatching(/make room on its disk, or reset/),
      "install its contrib package (postgresql-contrib)",
    ]);
  });

  it("is slow to search where its index knows the letters of Latin alone", () => {
    expect(say(judgeServer({ ...good, knowsAllScripts: false }))).toEqual([
      "warning: searches in other scripts than Latin are slow",
    ]);
    expect(judgeServer({ ...good, knowsAllScripts: null })).toEqual([]);
  });

  it("has connections left for a process that starts", () => {
    const levelOf = (used: number) => judgeConnections({ ...good, used }).level;
    expect([30, 77, 78, 92, 93].map(levelOf)).toEqual(["ok", "ok", "warning", "warning", "wrong"]);
    expect(judgeConnections({ ...good, used: 78 })).toMatchObject({
      why: "a process takes up to 24 for each of its services",
    });
    expect(judgeConnections(good, { services: 5 }).mend).toContain("set max_connections to 123 or more");
    expect(say([judgeConnections(good, { services: 4 }), judgeConnections(good, { services: 5 })])).toEqual([
      "ok: 30 of 97 connections are in use",
      "warning: the server admits 97 connections, and 5 services may open 120",
    ]);
  });
});

describe("facts that are late", () => {
  const boxoffice = { name: "boxoffice", running: 5, bus: "kafka" } as const;

  it("are wrong where a process should move them, and a reminder where none runs", () => {
    expect(judgeWaiting({ ...boxoffice, waiting: 5, seconds: 59 })).toEqual([]);
    expect(say(judgeWaiting({ ...boxoffice, waiting: 10_000, seconds: 7300 }))).toEqual([
      "wrong: the outbox of boxoffice holds 10000 facts or more, the oldest for 2 hours",
    ]);
    expect(judgeWaiting({ ...boxoffice, waiting: 1, seconds: 90, running: 0 })).toEqual([
      expect.objectContaining({ level: "warning", mend: "start it: tessera serve boxoffice" }),
    ]);
  });

  it("are reported by their group, and whether any process reads", () => {
    const group = { service: "checkin", topic: "a.b.v1", groupId: "tessera.checkin.a.b.v1" };
    expect(describeLag({ ...group, waiting: 7, readers: 0 })).toEqual({
      level: "wrong",
      what: "checkin has 7 facts of a.b.v1 still to accept, the oldest for more than a minute",
      why: "no process reads as group tessera.checkin.a.b.v1",
      mend: "start it: tessera serve checkin",
    });
    expect(describeLag({ ...group, waiting: 7, readers: 2 }).mend).toContain("tessera topics parked");
  });

  it("have topics as they are declared", () => {
    const topic = { topic: "a.b.v1", wanted: "4 partitions" };
    expect(describeDifference({ ...topic, what: "topic", found: undefined, remedy: "create" })).toMatchObject({
      level: "wrong",
      mend: "tessera topics apply",
    });
    expect(
      describeDifference({ ...topic, what: "partitions", found: "8", remedy: "decide", advice: "leave it" }),
    ).toMatchObject({ level: "warning", mend: "leave it" });
    expect(
      describeDifference({ ...topic, what: "cleanup.policy", wanted: "compact", found: "delete", remedy: "alter" }),
    ).toMatchObject({ level: "wrong", why: expect.stringContaining("before others have read them") });
  });
});

describe("engines", () => {
  it("tell a missing file from a missing socket", () => {
    const failure = (syscall: string) =>
      explainFailure(
        new Error("x", { cause: Object.assign(new Error(), { code: "ENOENT", syscall, path: "/tls/ca.crt" }) }),
        {
          what: "the database cannot be used",
        },
      );
    expect(failure("open")).toMatchObject({ why: "there is no file /tls/ca.crt" });
    expect(failure("connect")).toMatchObject({ why: "there is no such socket (ENOENT)" });
  });

  it("[Y1.3] are not suspected first where their certificate is not valid yet, but the clock here", () => {
    const early = Object.assign(new Error("certificate is not yet valid"), { code: "CERT_NOT_YET_VALID" });
    expect(explainFailure(early, { what: "the database cannot be used", mend: "look at that server" })).toMatchObject({
      why: "its certificate is not valid yet by the clock of this machine (CERT_NOT_YET_VALID)",
      mend: expect.stringMatching(/^set this clock by NTP/),
    });
  });

  it("are told what is wrong with a folder, and to make room where its disk is full", () => {
    const failure = (code: string) =>
      explainFailure(Object.assign(new Error("x"), { code, syscall: "write", path: "/files/x" }), {
        what: "the folder cannot be used",
        mend: "make it writable",
      });
    expect(failure("ENOSPC")).toMatchObject({ why: "the disk is full (ENOSPC)", mend: "make room on it" });
    expect(failure("ECONNRESET")).toMatchObject({ why: "the server closed the connection (ECONNRESET)" });
    expect(failure("EROFS")).toMatchObject({ why: "its file system is read-only (EROFS)", mend: "make it writable" });
  });

  it("are reported with what is unwise about Redis", () => {
    const information = (fields: Record<string, string>) =>
      ["# Server", ...Object.entries(fields).map(([name, value]) => `${name}:${value}`), ""].join("\r\n");
    expect(say(judgeRedis(information({ redis_version: "7.2.1", maxmemory: "0" }), "cache:6379"))).toEqual([
      "ok: Redis 7.2.1 at cache:6379 answers",
    ]);
    const valkey = { redis_version: "7.2.4", valkey_version: "9.1.2", role: "slave", maxmemory: "1000" };
    expect(say(judgeRedis(information({ ...valkey, maxmemory_policy: "noeviction" }), "cache:6379"))).toEqual([
      "ok: Valkey 9.1.2 at cache:6379 answers",
      "wrong: this Valkey is a replica",
      "warning: Valkey refuses writes when its memory is full (maxmemory-policy noeviction)",
    ]);
    expect(judgeRedis(information({ redis_version: "6.2.0" }), "cache:6379")[1]?.level).toBe("warning");
  });

  it("are reported when little room is left for files", () => {
    expect(
      [2000, 500, 50].flatMap((megabytes) =>
        judgeFree(megabytes, { disk: "FILES_DIR", harm: "", mend: "" }).map(({ level }) => level),
      ),
    ).toEqual(["warning", "wrong"]);
  });
});

describe("a process", () => {
  it("is ready, or says what it lacks", () => {
    expect(say(judgeReadiness({ ready: true, stage: "serving", dependencies: {} }, "a:1"))).toEqual([
      "ok: the process at a:1 is ready",
    ]);
    expect(judgeReadiness({ ready: false, stage: "serving", dependencies: { db: "away", x: "ok" } }, "a:1")).toEqual([
      expect.objectContaining({ level: "wrong", what: "the process at a:1 is not ready: db", why: "away" }),
    ]);
    expect(say(judgeReadiness({ ready: false, stage: "draining", dependencies: {} }, "a:1"))).toEqual([
      "warning: the process at a:1 is draining",
    ]);
  });
});

describe("the folder of files", () => {
  const judge = (platform: number, ...parts: { uid: number; mode: number }[]) =>
    say([judgeOwner({ folder: "/data/files", nearest: "/data/files", platform, parts }) ?? false]);

  it("belongs to the account of the platform, or may be written by others", () => {
    const wrongly = ["wrong: the folder /data/files belongs to another account than the platform"];
    const [own, root, shared] = [
      { uid: 999, mode: 0o755 },
      { uid: 0, mode: 0o755 },
      { uid: 0, mode: 0o775 },
    ];
    expect([judge(999, own, own), judge(999, own, shared), judge(0, own, root)]).toEqual([[], [], []]);
    expect([judge(999, root, own), judge(999, own, root)]).toEqual([wrongly, wrongly]);
    expect(judgeOwner({ folder: "/srv/files", nearest: "/srv", platform: 999, parts: [root] })).toMatchObject({
      what: "the folder /srv/files cannot be made by the account of the platform",
      mend: expect.stringContaining("install -d -m 750 -o 999 /srv/files"),
    });
  });
});

import { stripVTControlCharacters } from "node:util";
import type { Examination } from "@tessera/kit/service/examination";
import { describe, expect, it } from "vitest";
import { endpointOf, passwordsIn, secretsOf } from "../command/hide-secrets.ts";
import type { PlacedFinding } from "./diagnose.ts";
import { runExaminations } from "./diagnose.ts";
import { isUnwell, renderJson, renderText } from "./render.ts";

type Examined = Examination<AbortSignal>;

const limits = { limitMs: 60, secrets: [], unreadable: [] };

const examination = (area: string, examine: Examined["examine"]): Examined => ({
  area,
  subject: `the ${area} part`,
  examine,
});

describe("runExaminations", () => {
  it("abandons one that hangs, reports one that throws, and keeps all findings of the others", async () => {
    const aborted = Promise.withResolvers<string>();
    const refusal = new Error("try again later", { cause: new Error("no browser starts") });
    const failure = { what: "nothing can be printed", mend: "install it" };
    const findings = await runExaminations(
      [
        examination("hanging", (signal) => {
          signal.addEventListener("abort", () => aborted.resolve("aborted"));
          return new Promise(() => {});
        }),
        examination("broken", () => {
          throw new TypeError("no such thing");
        }),
        { ...examination("explained", () => Promise.reject(refusal)), failure },
        { ...examination("slow", () => new Promise(() => {})), failure },
        examination("well", async () => [{ level: "ok", what: "all is well" }]),
      ],
      limits,
    );
    expect(findings).toEqual([
      {
        area: "hanging",
        level: "wrong",
        what: "the examination of the hanging part was not completed",
        why: "no end within 0.06 seconds",
      },
      {
        area: "broken",
        level: "wrong",
        what: "the examination of the broken part was not completed",
        why: "no such thing",
      },
      { area: "explained", level: "wrong", ...failure, why: "no browser starts" },
      {
        area: "slow",
        level: "wrong",
        what: "the examination of the slow part was not completed",
        why: "no end within 0.06 seconds",
      },
      { area: "well", level: "ok", what: "all is well" },
    ]);
    expect(await aborted.promise).toBe("aborted");
  });

  it("runs them side by side", async () => {
    const arrived = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const meet = (own: 0 | 1) => async () => {
      arrived[own].resolve();
      await arrived[own === 0 ? 1 : 0].promise;
      return [];
    };
    expect(
      await runExaminations([examination("a", meet(0)), examination("b", meet(1))], { ...limits, limitMs: 5000 }),
    ).toEqual([]);
  });

  it("hides secrets that a driver's message quotes", async () => {
    const secrets = secretsOf(
      { DATABASE_URL: "postgres://u:p%40ss-word@db/x", S3_SECRET_ACCESS_KEY: "wJalrXUtnFEMI", OTHER: "wJal" },
      ["S3_SECRET_ACCESS_KEY"],
    );
    const findings = await runExaminations(
      [
        examination("a", () => {
          throw new Error("cannot use p%40ss-word, p@ss-word or wJalrXUtnFEMI\nat the second line");
        }),
      ],
      { ...limits, secrets },
    );
    expect(findings[0]?.why).toBe("cannot use [secret], [secret] or [secret]");
  });
});

describe("URLs", () => {
  it("lose user and password, however they are written", () => {
    expect(endpointOf("postgresql://u:secret@db.example:5432/tickets?sslmode=require")).toBe("db.example:5432/tickets");
    expect(endpointOf("postgresql://postgres@/postgres?host=%2Ftmp%2Frun&port=5432")).toBe("the socket in /tmp/run");
    expect(endpointOf("rediss://:secret@[::1]:6379/")).toBe("[::1]:6379");
    expect(endpointOf("postgres://u:se/cret@db/x")).toBe("an address that cannot be read");
  });

  it("contain passwords, which are found and hidden", () => {
    expect(passwordsIn("postgres://u:se/cret@db/x")).toContain("se/cret");
    expect(passwordsIn("postgres://u@db/x?password=hidden")).toContain("hidden");
    expect(passwordsIn("postgres://u@db:5432/x")).toEqual([]);
  });
});

describe("what is printed", () => {
  const findings: PlacedFinding[] = [
    { area: "database", level: "ok", what: "it answers" },
    { area: "bus", level: "wrong", what: "there is no topic", why: "facts wait", mend: "tessera topics apply" },
    { area: "database", level: "warning", what: "held by \u001b[2Jsomebody" },
    { area: "cache", level: "skipped", what: "the cache", why: "it is not asked for" },
  ];

  it("is set in columns, part by part, with a summary", () => {
    expect(renderText(findings, { colored: false })).toBe(`database
  ok       it answers
  warning  held by \ufffd[2Jsomebody

bus
  wrong    there is no topic
           facts wait
           → tessera topics apply

cache
  skipped  the cache: it is not asked for

1 thing is wrong, 1 to think about, 1 not examined.
`);
    expect(renderText([], { colored: false })).toBe("\nNothing is wrong.\n");
  });

  it("does not read as health where nothing runs", () => {
    const idle: PlacedFinding[] = [
      { area: "database", level: "skipped", what: "the database", why: "it does not run" },
    ];
    expect(renderText(idle, { colored: false })).toMatch(
      /\nNothing runs here: only the settings could be examined, 1 /,
    );
    expect(renderText([...idle, ...findings.slice(1, 2)], { colored: false })).toContain("1 thing is wrong");
  });

  it("has colors where they are wanted, and no other difference", () => {
    const colored = renderText(findings, { colored: true });
    expect(colored).toContain("\u001b[31mwrong    \u001b[39m");
    expect(stripVTControlCharacters(colored)).toBe(renderText(findings, { colored: false }));
  });

  it("is one object for programs, and says whether anything is wrong", () => {
    expect(JSON.parse(renderJson(findings))).toEqual({ status: "wrong", findings });
    const others = findings.filter(({ level }) => level !== "wrong");
    expect(JSON.parse(renderJson(others))).toMatchObject({ status: "ok" });
    expect([isUnwell(findings), isUnwell(others)]).toEqual([true, false]);
  });
});

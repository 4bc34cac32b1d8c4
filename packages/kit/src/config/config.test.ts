import { describe, expect, expectTypeOf, it } from "vitest";
import { Fault } from "../fault.ts";
import {
  type Config,
  choice,
  durationMs,
  int,
  optional,
  readConfig,
  type Setting,
  type Settings,
  secret,
  strongSecret,
  text,
  url,
} from "./config.ts";
import type { Secret } from "./redacted.ts";

const settings = {
  databaseUrl: secret("DATABASE_URL", "where the database is, with its password"),
  port: int("PORT", 8080, [0, 65_535], "where REST is served"),
  workers: int("WORKERS", undefined, [1, 64], "how many render at once"),
  boxoffice: text("BOXOFFICE_ADDRESS", undefined, "where boxoffice listens"),
  demo: choice("DEMO", ["on", "off"], "off", "whether to serve made-up events"),
  bus: choice("BUS", ["memory", "kafka"], "memory", "what carries facts"),
  origin: url("ORIGIN", "http://localhost:8080", "how the world calls us"),
  lease: durationMs("LEASE", 30_000, "how long a job is held without a sign of life"),
  title: text("TITLE", "Tessera", "the name at the top"),
  smtpPassword: optional(secret("SMTP_PASSWORD", "what opens the mail server")),
  collector: optional(url("OTEL_EXPORTER_OTLP_ENDPOINT", undefined, "where traces go")),
};

const least = { DATABASE_URL: "postgres://u:hunter2@db/t", WORKERS: "4", BOXOFFICE_ADDRESS: "boxoffice:50051" };

/** The Fault that reading throws. */
function refusal(read: () => unknown): Fault {
  try {
    read();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** What one setting reads of a text; undefined when it refuses. */
function reads<T>(one: Setting<T>, given: string): T | undefined {
  try {
    return readConfig({ one }, { [one.name]: given }).one;
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

describe("readConfig", () => {
  it("gives typed values, defaults where nothing is set", () => {
    const config = readConfig(settings, least);
    expectTypeOf(config).toEqualTypeOf<Config<typeof settings>>();
    expectTypeOf<ReturnType<typeof readConfig<typeof settings>>>().toEqualTypeOf<{
      readonly databaseUrl: Secret<string>;
      readonly port: number;
      readonly workers: number;
      readonly boxoffice: string;
      readonly demo: "on" | "off";
      readonly bus: "memory" | "kafka";
      readonly origin: string;
      readonly lease: number;
      readonly title: string;
      readonly smtpPassword: Secret<string> | undefined;
      readonly collector: string | undefined;
    }>();
    expect(config.databaseUrl.reveal()).toBe("postgres://u:hunter2@db/t");
    expect({ ...config, databaseUrl: "" }).toEqual({
      databaseUrl: "",
      port: 8080,
      workers: 4,
      boxoffice: "boxoffice:50051",
      demo: "off",
      bus: "memory",
      origin: "http://localhost:8080",
      lease: 30_000,
      title: "Tessera",
      smtpPassword: undefined,
      collector: undefined,
    });
    expect(Object.keys(config)).toEqual(Object.keys(settings));
  });

  it("gives what is set", () => {
    const config = readConfig(settings, {
      ...least,
      PORT: "0",
      DEMO: "on",
      BUS: "kafka",
      ORIGIN: "https://tickets.example/shop",
      LEASE: "2m",
      TITLE: " Zelt 🎪 ",
      SMTP_PASSWORD: "pass\nword ",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
    });
    expect(config).toMatchObject({
      port: 0,
      demo: "on",
      bus: "kafka",
      origin: "https://tickets.example/shop",
      lease: 120_000,
      title: " Zelt 🎪 ",
      collector: "http://collector:4318",
    });
    expect(config.smtpPassword?.reveal()).toBe("pass\nword ");
  });

  it("names every problem in one message", () => {
    const fault = refusal(() =>
      readConfig(settings, {
        PORT: "eighty",
        BOXOFFICE_ADDRESS: "",
        BUS: "pigeon",
        DEMO: "maybe",
        WORKERS: "65",
        LEASE: "soon",
        ORIGIN: "example.org",
      }),
    );
    expect(fault.message).toBe(`configuration:
  DATABASE_URL is required
  PORT must be a whole number from 0 to 65535
  WORKERS must be a whole number from 1 to 64
  BOXOFFICE_ADDRESS is required
  DEMO must be on or off
  BUS must be memory or kafka
  ORIGIN must be a URL such as http://collector:4318
  LEASE must be a duration such as 500ms, 30s, 5m, 2h or 1d`);
    expect(fault).toMatchObject({ kind: "invalid", code: "configuration_invalid" });
    expect(fault.fields).toMatchObject({
      PORT: ["must be a whole number from 0 to 65535"],
      DATABASE_URL: ["is required"],
    });
  });

  it("quotes no value, for it may be a secret in the wrong place", () => {
    const fault = refusal(() => readConfig(settings, { ...least, PORT: "hunter2", ORIGIN: "hunter2" }));
    expect(JSON.stringify([fault.message, fault.fields])).not.toContain("hunter2");
  });

  it("takes an empty variable as not set", () => {
    expect(
      readConfig(settings, { ...least, PORT: "", SMTP_PASSWORD: "", OTEL_EXPORTER_OTLP_ENDPOINT: "" }),
    ).toMatchObject({ port: 8080, smtpPassword: undefined, collector: undefined });
    expect(refusal(() => readConfig(settings, { ...least, DATABASE_URL: "" })).message).toBe(
      "configuration:\n  DATABASE_URL is required",
    );
  });

  it("says once what two settings find wrong with one variable", () => {
    const both = { first: int("PORT", 1, [1, 9], "one"), second: int("PORT", 2, [1, 9], "other") };
    const fault = refusal(() => readConfig(both, { PORT: "10" }));
    expect(fault.message).toBe("configuration:\n  PORT must be a whole number from 1 to 9");
    expect(fault.fields).toEqual({ PORT: ["must be a whole number from 1 to 9"] });
  });

  it("reads the real environment", () => {
    expect(readConfig({ path: text("PATH", undefined, "where programs are") }, process.env).path).toBe(
      process.env["PATH"],
    );
  });

  it("needs nothing where there are no settings", () => {
    const none = {} satisfies Settings;
    expect(readConfig(none, process.env)).toEqual({});
  });
});

describe("what is read", () => {
  it.each([
    ["0", 0],
    ["-5", -5],
    ["007", 7],
    ["10", 10],
    ["11", undefined],
    ["-6", undefined],
    ["1.0", undefined],
    ["1e1", undefined],
    ["0x1", undefined],
    [" 1", undefined],
    ["1\n", undefined],
    ["+1", undefined],
    ["٣", undefined],
    ["NaN", undefined],
    ["", 3],
  ])("int %j", (given, expected) => {
    expect(reads(int("N", 3, [-5, 10], "a number"), given)).toBe(expected);
  });

  it.each(["http://collector:4318", "https://tickets.example/shop?x=1#y", "redis://:pass@redis:6379/0", "s3://bucket"])(
    "url %s",
    (given) => {
      expect(reads(url("U", undefined, "a URL"), given)).toBe(given);
    },
  );

  it.each([
    "collector:4318",
    "localhost",
    "/shop",
    "http://",
    "http:///x",
    "http:collector",
    "http://a b",
    " http://a",
    "http://a\n",
    "http://a:99999",
    "javascript:alert(1)",
    "://a",
  ])("no url %j", (given) => {
    expect(reads(url("U", undefined, "a URL"), given)).toBeUndefined();
  });

  it.each([
    ["memory", "memory"],
    ["Memory", undefined],
    ["", "kafka"],
    ["toString", undefined],
  ])("choice %j", (given, expected) => {
    expect(reads(choice("C", ["memory", "kafka"], "kafka", "a choice"), given)).toBe(expected);
  });

  it.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["400d", 34_560_000_000],
    ["1500", 1500],
    ["0", 0],
    ["", 7],
    ["1.5s", undefined],
    ["-1s", undefined],
    ["1 s", undefined],
    ["1w", undefined],
    ["s", undefined],
    ["1h30m", undefined],
    ["99999999999999d", undefined],
  ])("durationMs %j", (given, expected) => {
    expect(reads(durationMs("D", 7, "a duration"), given)).toBe(expected);
  });

  it.each([
    ["30", undefined],
    ["59m", undefined],
    ["1h", 3_600_000],
  ])("durationMs of at least an hour %j", (given, expected) => {
    const one = durationMs("D", 7_200_000, "a duration", { leastMs: 3_600_000 });
    expect(reads(one, given)).toBe(expected);
    expect(one.takes).toBe("a duration of at least 1h, such as 12h or 30d");
  });
});

describe("a default that its setting would refuse", () => {
  it.each([
    ["int", () => int("N", 11, [0, 10], "a number")],
    ["int with a fraction", () => int("N", 0.5, [0, 10], "a number")],
    ["url", () => url("U", "checkin", "a URL")],
    ["choice", () => choice("C", ["a", "b"], "c" as "a", "a choice")],
    ["durationMs", () => durationMs("D", -1, "a duration")],
  ])("of %s is found at once", (_kind, make) => {
    expect(make).toThrow(/^the default of [NUCD] must be /);
  });
});

describe("a setting", () => {
  it("says what it takes and its default", () => {
    const described = Object.values(settings).map(({ name, takes, fallback = "required", description }) => ({
      name,
      takes,
      default: fallback,
      description,
    }));
    expect(described).toEqual([
      {
        name: "DATABASE_URL",
        takes: "a secret",
        default: "required",
        description: "where the database is, with its password",
      },
      { name: "PORT", takes: "a whole number from 0 to 65535", default: "8080", description: "where REST is served" },
      {
        name: "WORKERS",
        takes: "a whole number from 1 to 64",
        default: "required",
        description: "how many render at once",
      },
      {
        name: "BOXOFFICE_ADDRESS",
        takes: "a text",
        default: "required",
        description: "where boxoffice listens",
      },
      { name: "DEMO", takes: "on or off", default: "off", description: "whether to serve made-up events" },
      { name: "BUS", takes: "memory or kafka", default: "memory", description: "what carries facts" },
      {
        name: "ORIGIN",
        takes: "a URL such as http://collector:4318",
        default: "http://localhost:8080",
        description: "how the world calls us",
      },
      {
        name: "LEASE",
        takes: "a duration such as 500ms, 30s, 5m, 2h or 1d",
        default: "30s",
        description: "how long a job is held without a sign of life",
      },
      { name: "TITLE", takes: "a text", default: "Tessera", description: "the name at the top" },
      { name: "SMTP_PASSWORD", takes: "a secret", default: "none", description: "what opens the mail server" },
      {
        name: "OTEL_EXPORTER_OTLP_ENDPOINT",
        takes: "a URL such as http://collector:4318",
        default: "none",
        description: "where traces go",
      },
    ]);
  });

  it.each([
    [1500, "1500ms"],
    [90_000, "90s"],
    [3_600_000, "1h"],
    [34_560_000_000, "400d"],
    [0, "0ms"],
  ])("prints a default of %i milliseconds as %s, which reads back", (ms, printed) => {
    const one = durationMs("D", ms, "a duration");
    expect(one.fallback).toBe(printed);
    expect(reads(one, printed)).toBe(ms);
  });
});

describe("a strong secret", () => {
  const key = strongSecret("KEY", 24, "what opens everything");

  it.each([
    ["x".repeat(24), true],
    ["!#$%&'()*+,-./:;<=>?@[~", false],
    ["!#$%&'()*+,-./:;<=>?@[]~", true],
    ["x".repeat(23), false],
    [`${"x".repeat(24)} y`, false],
    [`${"x".repeat(24)}ü`, false],
    [`${"x".repeat(24)}\n`, false],
  ])("%j is one: %j", (given, isOne) => {
    expect(reads(key, given)?.reveal()).toBe(isOne ? given : undefined);
  });

  it("is refused with the way to a better one, and not quoted", () => {
    const { message } = refusal(() => readConfig({ key }, { KEY: "guessable" }));
    expect(message).toContain("KEY must be a secret of at least 24 ASCII characters without blanks, as `openssl");
    expect(message).not.toContain("guessable");
  });
});

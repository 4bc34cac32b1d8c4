import { systemClock } from "@tessera/kit/clock";
import { describe, expect, it } from "vitest";
import { examineConfiguration } from "./examine-configuration.ts";
import { lookAround } from "./surroundings.ts";

const strongKey = "0123456789abcdef0123456789abcdef";

/** What is found in an environment, for the services named. */
async function examine(environment: Record<string, string>, names: readonly string[] = ["all"]) {
  const around = await lookAround({ names, environment, data: "/nonexistent", health: [] }, { clock: systemClock });
  try {
    return await examineConfiguration(around);
  } finally {
    await around.close();
  }
}

const pod = {
  BUS: "kafka",
  KAFKA_BROKERS: "kafka:9092",
  DATABASE_URL: "postgresql://tessera:x8Kq0b@db.example/tessera",
  BOXOFFICE_ADDRESS: "boxoffice:50051",
  CHECKIN_ADDRESS: "checkin:50051",
  BASE_URL: "https://tickets.example",
  OPERATOR_KEY: strongKey,
};

const saying = async (environment: Record<string, string>, names?: readonly string[]) =>
  (await examine(environment, names))
    .filter(({ level }) => level !== "ok")
    .map(({ level, what }) => `${level}: ${what}`);

describe("the configuration", () => {
  it("is well as it is shipped, and as pods have it", async () => {
    expect(await saying({})).toEqual([]);
    expect(await saying(pod, ["gateway"])).toEqual([]);
    expect(
      await saying({ ...pod, KUBERNETES_SERVICE_HOST: "10.0.0.1", TESSERA_CHECKIN_PORT: "tcp://10.0.0.2:1" }, [
        "checkin",
      ]),
    ).toEqual([]);
  });

  it("tells everything that cannot be read at once, what it takes, and no value", async () => {
    const findings = await examine({ GRPC_PORT: "many", BUS: "kafak", REDEEM_LANES: "99", METRICS_PORT: "x" });
    expect(findings.map(({ what }) => what)).toEqual([
      "BUS must be memory or kafka",
      "GRPC_PORT must be a whole number from 0 to 65535",
      "REDEEM_LANES must be a whole number from 1 to 16",
      "METRICS_PORT takes a whole number from 0 to 65535",
    ]);
    expect(findings[1]?.mend).toBe("set GRPC_PORT to a whole number from 0 to 65535; left out it is 50051");
    expect(JSON.stringify(findings)).not.toMatch(/many|kafak|99/);
  });

  it("has `serve all` know its port, because links are made with it", async () => {
    expect(await saying({ HTTP_PORT: "0" })).toEqual(["wrong: HTTP_PORT takes a whole number from 1 to 65535"]);
  });

  it("tells what does not go together", async () => {
    const without = (...names: string[]) =>
      Object.fromEntries(Object.entries(pod).filter(([name]) => !names.includes(name)));
    expect(await saying(without("BUS"), ["checkin"])).toEqual([
      expect.stringMatching(
        /^wrong: the memory bus reaches only this process, and boxoffice would miss facts of checkin, checkin would miss/,
      ),
    ]);
    expect(await saying(without("KAFKA_BROKERS", "BOXOFFICE_ADDRESS", "DATABASE_URL"), ["gateway"])).toEqual([
      "wrong: BOXOFFICE_ADDRESS is required: where boxoffice serves gRPC",
      "wrong: KAFKA_BROKERS is required with BUS=kafka",
      "wrong: DATABASE_URL is required: single services bring no database along",
    ]);
    expect(await saying({ CACHE: "redis", FILES: "s3", S3_BUCKET: "b", S3_ACCESS_KEY_ID: "k" })).toEqual([
      "wrong: REDIS_URL is required with CACHE=redis",
      "wrong: S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY go together: set both or none",
    ]);
    expect(await saying({ CACHE: "redis", REDIS_URL: "http://cache:6379", DATABASE_URL: "mysql://db/x" })).toEqual([
      "wrong: REDIS_URL is no address of Redis",
      "wrong: DATABASE_URL is no address of PostgreSQL",
    ]);
    expect(
      await saying({ ...pod, KAFKA_REPLICATION_FACTOR: "2", KAFKA_MIN_IN_SYNC_REPLICAS: "3" }, ["checkin"]),
    ).toEqual(["wrong: KAFKA_MIN_IN_SYNC_REPLICAS is above KAFKA_REPLICATION_FACTOR"]);
  });

  it.each([
    ["ftp://tickets.example", "wrong: BASE_URL is neither http nor https"],
    ["https://a:b@tickets.example", "wrong: BASE_URL has more than a scheme, a host and a port"],
    ["https://tickets.example/?a=1", "wrong: BASE_URL has more than a scheme, a host and a port"],
    ["https://tickets.example/shop", "warning: BASE_URL has the path /shop"],
    ["http://tickets.example", "warning: BASE_URL is http for a host that is not this one"],
    ["not a url", "wrong: BASE_URL must be a URL such as http://collector:4318"],
  ])("judges BASE_URL %s", async (url, expected) => {
    expect(await saying({ ...pod, BASE_URL: url }, ["gateway"])).toEqual([expected]);
  });

  it("tells when links would lead others to themselves", async () => {
    const open = { ...pod, HTTP_HOST: "0.0.0.0", BASE_URL: "" };
    expect(await saying(open, ["gateway"])).toEqual(["warning: BASE_URL is not set"]);
    expect(await saying({ HTTP_HOST: "::" })).toEqual(["warning: BASE_URL is this machine's own name for itself"]);
    expect(await saying({ ...open, BASE_URL: "https://tickets.example" }, ["gateway"])).toEqual([]);
  });

  it("judges keys and passwords without telling them", async () => {
    expect(await saying({ ...pod, OPERATOR_KEY: "" }, ["gateway"])).toEqual(["warning: OPERATOR_KEY is not set"]);
    expect(await saying({ ...pod, OPERATOR_KEY: "", TESSERA_OPERATOR_KEY: strongKey }, ["gateway"])).toEqual([]);
    expect(await saying({ TESSERA_OPERATOR_KEY: "changeme" })).toEqual([
      "wrong: TESSERA_OPERATOR_KEY is one of the first that are guessed",
    ]);
    expect(await saying({ TESSERA_OPERATOR_KEY: "kürzer als dreißig Zeichen" })).toEqual([
      "wrong: TESSERA_OPERATOR_KEY has a character that no header can carry",
    ]);
    expect(await saying({ TESSERA_OPERATOR_KEY: "0123456789abcdef" })).toEqual([
      "warning: TESSERA_OPERATOR_KEY has 16 characters",
    ]);
    const findings = await examine({
      DATABASE_URL: "postgresql://tessera:postgres@db.example/tessera",
      CACHE: "redis",
      REDIS_URL: "redis://:changeme@cache",
    });
    expect(findings.filter(({ level }) => level !== "ok").map(({ what }) => what)).toEqual([
      "the password in DATABASE_URL is one of the first that are guessed",
      "the password in REDIS_URL is one of the first that are guessed",
    ]);
    expect(JSON.stringify(findings)).not.toContain("changeme");
  });

  it.each([
    ["KAFKA_BROKER", "call it KAFKA_BROKERS, or remove it"],
    ["DATABSAE_URL", "call it DATABASE_URL, or remove it"],
    ["kafka_topic_prefix", "call it KAFKA_TOPIC_PREFIX, or remove it"],
    ["BOXOFICE_ADDRESS", "call it BOXOFFICE_ADDRESS, or remove it"],
    ["TESSERA_KAFKA_BROKERS", "call it KAFKA_BROKERS, or remove it"],
    ["TESSERA_OPERATER_KEY", "call it TESSERA_OPERATOR_KEY, or remove it"],
    ["TESSERA_SOMETHING_ELSE", "correct its name, or remove it"],
  ])("takes %s for a mistake", async (name, mend) => {
    expect((await examine({ [name]: "value-of-it" })).slice(1)).toEqual([
      expect.objectContaining({ level: "warning", what: `${name} is not a setting`, mend }),
    ]);
  });

  it("lets other programs have their variables", async () => {
    const others = {
      PATH: "/bin",
      HTTP_PROXY: "http://p:1",
      GRPC_TRACE: "all",
      KAFKA_HOME: "/k",
      NODE_ENV: "x",
      S3_URL: "s",
    };
    expect(await saying({ ...others, LOGLEVEL: "debug", LOG_LEVEL: "info" })).toEqual([]);
  });
});

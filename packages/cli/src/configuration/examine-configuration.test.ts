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
    await around.database.close();
  }
}

const pod = {
  BUS: "kafka",
  KAFKA_BROKERS: "kafka:9092",
  KAFKA_TLS: "on",
  KAFKA_SASL_MECHANISM: "scram-sha-512",
  KAFKA_SASL_PASSWORD: "x8Kq0b",
  GRPC_HOST: "0.0.0.0",
  GRPC_TLS_CERT: "/tls/tls.crt",
  GRPC_TLS_KEY: "/tls/tls.key",
  GRPC_TLS_CA: "/tls/ca.crt",
  DATABASE_URL: "postgresql://tessera:x8Kq0b@db.example/tessera?sslmode=verify-full&sslrootcert=/tls/db.crt",
  BOXOFFICE_ADDRESS: "boxoffice:50051",
  CHECKIN_ADDRESS: "checkin:50051",
  LAYOUT_AND_RENDER_ADDRESS: "layout-and-render:50051",
  SHREDDER_ADDRESS: "shredder:50051",
  VOUCHER_ADDRESS: "voucher:50051",
  BASE_URL: "https://tickets.example",
  OPERATOR_KEY: strongKey,
};

const saying = async (environment: Record<string, string>, names?: readonly string[]) =>
  (await examine(environment, names))
    .filter(({ level }) => level !== "ok")
    .map(({ level, what }) => `${level}: ${what}`);

describe("the configuration", () => {
  it("is right as it is shipped, and as pods have it", async () => {
    expect(await saying({})).toEqual([]);
    expect(await saying(pod, ["gateway"])).toEqual([]);
    expect(
      await saying({ ...pod, KUBERNETES_SERVICE_HOST: "10.0.0.1", TESSERA_CHECKIN_PORT: "tcp://10.0.0.2:1" }, [
        "checkin",
      ]),
    ).toEqual([]);
  });

  it("reports all settings that cannot be read, what they take, and no value", async () => {
    const findings = await examine({ GRPC_PORT: "plenty", BUS: "kafak", REDEEM_BATCHES: "99", METRICS_PORT: "x" });
    expect(findings.map(({ what }) => what)).toEqual([
      "BUS must be memory or kafka",
      "GRPC_PORT must be a whole number from 0 to 65535",
      "REDEEM_BATCHES must be a whole number from 1 to 16",
      "METRICS_PORT takes a whole number from 0 to 65535",
    ]);
    expect(findings[1]?.mend).toBe("set GRPC_PORT to a whole number from 0 to 65535; the default is 50051");
    expect(JSON.stringify(findings)).not.toMatch(/plenty|kafak|99/);
  });

  it("[Y1.4] warns of a variable that is almost called as a setting, unless that is set, too", async () => {
    const misspelt = { HTTP_PROT: "1", BASE_ULR: "https://a", METRICS_POT: "1", DATABASE_UR: "x" };
    expect(await saying({ ...misspelt, HTTP_PROXY: "http://p" })).toEqual(
      Object.keys(misspelt).map((name) => `warning: ${name} is no setting`),
    );
    expect(await saying({ METRICS_PROT: "1", METRICS_PORT: "1" })).toEqual([]);
  });

  it("requires a known port for `serve all`, because links are made with it", async () => {
    expect(await saying({ HTTP_PORT: "0" })).toEqual(["wrong: HTTP_PORT takes a whole number from 1 to 65535"]);
  });

  it("reports settings that do not go together", async () => {
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
      "wrong: DATABASE_URL is required: single services bring no database",
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
    ["ftp://tickets.example", "wrong: BASE_URL is more than the http or https address of a host"],
    ["https://a:b@tickets.example", "wrong: BASE_URL is more than the http or https address of a host"],
    ["https://tickets.example/?a=1", "wrong: BASE_URL is more than the http or https address of a host"],
    ["not a url", "wrong: BASE_URL must be a URL such as https://tickets.example"],
  ])("judges BASE_URL %s", async (url, expected) => {
    expect(await saying({ ...pod, BASE_URL: url }, ["gateway"])).toEqual([expected]);
  });

  it("[P4.1] names what is missing of a provider of identities", async () => {
    const all = { OIDC_ISSUER: "https://login.example", OIDC_CLIENT_ID: "a", OIDC_CLIENT_SECRET: "b" };
    expect(await saying({ ...pod, ...all }, ["gateway"])).not.toContainEqual(expect.stringContaining("OIDC"));
    const [finding] = await saying({ ...pod, ...all, OIDC_CLIENT_SECRET: "" }, ["gateway"]);
    expect(finding).toMatch(/^wrong: OIDC_CLIENT_SECRET is not set, and other settings/);
  });

  it("reports links that would lead others to themselves", async () => {
    const open = { ...pod, HTTP_HOST: "0.0.0.0", BASE_URL: "" };
    expect(await saying(open, ["gateway"])).toEqual(["warning: BASE_URL is not set"]);
    expect(await saying({ HTTP_HOST: "::" })).toEqual([
      "warning: BASE_URL is an address that only this machine can use",
    ]);
    expect(await saying({ ...open, BASE_URL: "https://tickets.example" }, ["gateway"])).toEqual([]);
  });

  it("[S11.9] reports connections that leave this machine unprotected", async () => {
    const open = { GRPC_TLS_CERT: "", GRPC_TLS_KEY: "", GRPC_TLS_CA: "" };
    expect(await saying({ ...pod, ...open }, ["checkin"])).toEqual([
      "wrong: GRPC_HOST reaches other machines, and calls would be neither encrypted nor checked",
      "wrong: BOXOFFICE_ADDRESS reaches other machines, and calls would be neither encrypted nor checked",
    ]);
    expect(await saying({ ...pod, GRPC_TLS_KEY: "" }, ["checkin"])).toEqual([
      "wrong: GRPC_TLS_CERT, GRPC_TLS_KEY and GRPC_TLS_CA go together",
    ]);
    expect(await saying({ ...pod, KAFKA_TLS: "off" }, ["checkin"])).toEqual([
      "warning: facts travel to the brokers without TLS",
    ]);
    const anonymous = { ...pod, KAFKA_SASL_MECHANISM: "none", KAFKA_SASL_PASSWORD: "" };
    expect(await saying(anonymous, ["checkin"])).toEqual([
      "warning: this process does not authenticate to the brokers",
    ]);
    expect(await saying({ ...anonymous, KAFKA_TLS: "off", KAFKA_BROKERS: "127.0.0.1:1,[::1]:2" }, ["checkin"])).toEqual(
      [],
    );
    expect(await saying({ ...pod, KAFKA_TLS_CA: "/nonexistent.pem" }, ["checkin"])).toEqual([
      "wrong: /nonexistent.pem cannot be used: ENOENT",
    ]);
    expect(await saying({ ...pod, KAFKA_TLS: "off", KAFKA_TLS_CA: "/tls/ca.crt" }, ["checkin"])).toContain(
      "wrong: KAFKA_TLS_CA, KAFKA_TLS_CERT and KAFKA_TLS_KEY need KAFKA_TLS=on",
    );
  });

  it("[S11.9] reports a cache and a file store that are used in the clear", async () => {
    const redis = (url: string, more = {}) => saying({ ...pod, CACHE: "redis", REDIS_URL: url, ...more }, ["checkin"]);
    expect(await redis("redis://redis.example:6379")).toEqual(["warning: limits are counted at a Redis without TLS"]);
    expect(await redis("rediss://redis.example:6379")).toEqual([]);
    expect(await redis("redis://localhost:6379", { REDIS_TLS_CA: "/tls/ca.crt" })).toEqual([
      "wrong: REDIS_TLS_CA needs an address with TLS: rediss://",
    ]);
    const files = (url: string, more = {}) =>
      saying({ ...pod, FILES: "s3", S3_BUCKET: "tickets", S3_ENDPOINT: url, ...more }, ["checkin"]);
    expect(await files("http://s3.example:9000")).toEqual(["warning: files travel to the file store without TLS"]);
    expect(await files("https://s3.example:9000")).toEqual([]);
    expect(await files("http://127.0.0.1:9000", { S3_TLS_CA: "/tls/ca.crt" })).toEqual([
      "wrong: S3_TLS_CA needs an address with TLS in S3_ENDPOINT: https://",
    ]);
  });

  it.each([
    ["", 1],
    ["?sslmode=disable", 1],
    ["?sslmode=no-verify", 1],
    ["?sslmode=require&uselibpqcompat=true", 1],
    ["?sslmode=require", 0],
    ["?sslmode=verify-full", 0],
  ])("[S11.9] judges whether the database is verified: %s", async (query, warnings) => {
    const of = (host: string) =>
      saying({ ...pod, DATABASE_URL: `postgresql://t:x8Kq0b@${host}/t${query}` }, ["checkin"]);
    expect(await of("db.example")).toEqual(
      Array(warnings).fill("warning: the database is not asked for a certificate"),
    );
    expect(await of("127.0.0.1:5432")).toEqual([]);
  });

  it("reports an operator key that could be guessed, without showing it", async () => {
    expect(await saying({ ...pod, OPERATOR_KEY: "guess-me" }, ["gateway"])).toEqual([
      expect.stringMatching(/^wrong: OPERATOR_KEY must be a secret of at least 24 ASCII characters without blanks/),
    ]);
    expect(await saying({ TESSERA_OPERATOR_KEY: "guess-me" })).toEqual([
      expect.stringMatching(/^wrong: TESSERA_OPERATOR_KEY must be a secret of at least 24 ASCII characters/),
    ]);
  });

  it("reports a gateway without an operator key", async () => {
    expect(await saying({ ...pod, OPERATOR_KEY: "" }, ["gateway"])).toEqual(["warning: OPERATOR_KEY is not set"]);
    expect(await saying({ ...pod, OPERATOR_KEY: "", TESSERA_OPERATOR_KEY: strongKey }, ["gateway"])).toEqual([]);
  });
});

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { readConfig } from "@tessera/kit/config/config";
import { Secret } from "@tessera/kit/config/redacted";
import { createLog } from "@tessera/kit/telemetry/log";
import { describe, expect, it } from "vitest";
import { databaseUrlOf, readPort } from "../command/options.ts";
import { kafkaAccess, openFiles } from "../serve/open-engines.ts";
import { refuseLostFacts, startPlatform } from "../serve/platform.ts";
import { serve } from "../serve/serve.ts";
import { loadServices, services } from "../services.ts";
import { engineSettings } from "./engine-settings.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });
const nowhere = "postgresql://nobody@127.0.0.1:1/none";

const start = (names: readonly string[], environment: Record<string, string> = {}) =>
  startPlatform({ names, environment, databaseUrl: nowhere, transport: "grpc", operationsPort: 0, log });

const access = (environment: Record<string, string>) => () =>
  kafkaAccess(readConfig(engineSettings, { BUS: "kafka", ...environment }), { clientId: "test", log });

describe("a process on the memory bus", () => {
  it("refuses to start where it would never hear of facts from elsewhere", async () => {
    const message =
      "the memory bus reaches only this process, and boxoffice would miss facts of checkin, checkin would miss facts of boxoffice, checkin would miss facts of voucher, checkin would miss facts of shredder, gateway would miss facts of checkin; set BUS=kafka, or serve them together";
    await expect(start(["checkin"])).rejects.toMatchObject({ code: "bus_cannot_reach", message });
    await expect(start(["gateway"])).rejects.toThrow("gateway would miss facts of boxoffice");
  });

  it("refuses to start where others would never hear of its own", async () => {
    await expect(start(["boxoffice"])).rejects.toThrow("checkin would miss facts of boxoffice");
    await expect(start(["boxoffice", "checkin"])).rejects.toThrow(
      "and boxoffice would miss facts of voucher, boxoffice would miss facts of shredder, checkin would miss facts of voucher, checkin would miss facts of shredder, gateway would miss facts of boxoffice, gateway would miss facts of checkin, layout-and-render would miss facts of boxoffice, shredder would miss facts of boxoffice, voucher would miss facts of boxoffice; set BUS=kafka",
    );
  });
});

describe("a deployment without offline sales", () => {
  it("[O15.4] may lack the service in one process, which others may not", async () => {
    await expect(
      refuseLostFacts(["boxoffice", "checkin", "gateway", "layout-and-render", "shredder", "voucher"]),
    ).resolves.toBeUndefined();
    await expect(refuseLostFacts(["offline-sales"])).rejects.toThrow("offline-sales would miss facts of boxoffice");
    await expect(refuseLostFacts(["boxoffice", "checkin", "gateway", "shredder", "voucher"])).rejects.toThrow(
      "layout-and-render would miss facts of boxoffice",
    );
  });
});

describe("a process that cannot start", () => {
  it("ends, whatever it had opened by then", async () => {
    const main = new URL("../main.ts", import.meta.url).pathname;
    const environment = {
      BUS: "kafka",
      KAFKA_BROKERS: "127.0.0.1:1",
      CACHE: "redis",
      REDIS_URL: "redis://127.0.0.1:1",
      OPERATOR_KEY: "operator-key-of-the-tests-0123456789",
      BASE_URL: "http://127.0.0.1:1",
    };
    const outcomes = await Promise.all(
      // Peers without addresses; files without a bucket.
      [["gateway"], ["boxoffice", "--files", "s3"]].map((args) =>
        promisify(execFile)(process.execPath, ["--conditions=source", main, "serve", ...args], {
          env: { ...process.env, ...environment, DATABASE_URL: nowhere, METRICS_PORT: "0" },
          timeout: 20_000,
          killSignal: "SIGKILL",
        }).catch((error: unknown) => error as { code: number; stderr: string; killed: boolean }),
      ),
    );
    expect(outcomes).toEqual([
      expect.objectContaining({
        code: 1,
        killed: false,
        stderr: expect.stringContaining("BOXOFFICE_ADDRESS is required"),
      }),
      expect.objectContaining({ code: 1, killed: false, stderr: expect.stringContaining("S3_BUCKET is required") }),
    ]);
  });
});

describe("mistakes in the configuration are told", () => {
  it("when a service does not exist", async () => {
    await expect(loadServices(["checkn", "gateway"])).rejects.toMatchObject({
      code: "unknown_service",
      message:
        "there is no service checkn; the services are boxoffice, checkin, gateway, layout-and-render, offline-sales, shredder, voucher",
    });
  });

  it("when options would be ignored", async () => {
    await expect(serve(["all", "checkin"])).rejects.toMatchObject({ code: "all_and_more" });
    await expect(serve(["checkin", "--data", "somewhere"])).rejects.toThrow("--data goes with `serve all`");
    await expect(serve(["checkin", "--log-file", "-"])).rejects.toThrow("--log-file goes with `serve all`");
    await expect(serve(["checkin", "--port", "80"])).rejects.toMatchObject({ code: "no_gateway" });
  });

  it("when brokers are no addresses", () => {
    for (const brokers of ["localhost", "a:9092,b", ",", "https://a:9092", "a:9092,"])
      expect(access({ KAFKA_BROKERS: brokers })).toThrow("KAFKA_BROKERS must be host:port");
    expect(access({ KAFKA_BROKERS: "a-b.c:9092, [::1]:9092" })().brokers).toEqual(["a-b.c:9092", "[::1]:9092"]);
  });

  it("[S2.7] when the operator key could be guessed", async () => {
    for (const OPERATOR_KEY of ["a", "twenty-three-characters", "twenty-four characters and blanks"]) {
      const starting = start(Object.keys(services), { OPERATOR_KEY });
      await expect(starting).rejects.toThrow("OPERATOR_KEY must be a secret of at least 24 ASCII characters");
    }
  });

  it("when half of a secret is missing", async () => {
    expect(access({ KAFKA_BROKERS: "a:1", KAFKA_SASL_MECHANISM: "plain" })).toThrow("KAFKA_SASL_PASSWORD is required");
    expect(access({ KAFKA_BROKERS: "a:1", KAFKA_SASL_PASSWORD: "p" })).toThrow("needs KAFKA_SASL_MECHANISM");
    const s3 = { ...readConfig(engineSettings, { FILES: "s3", S3_BUCKET: "b" }), s3AccessKey: new Secret("key") };
    await expect(openFiles(s3)).rejects.toThrow("S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY go together");
  });

  it("when a port is none; what is empty is not set", () => {
    expect(() => readPort("METRICS_PORT", "abc", { lowest: 0 })).toThrow("a whole number from 0 to 65535");
    expect(() => readPort("--port", "0")).toThrow("from 1 to 65535");
    expect(databaseUrlOf({ DATABASE_URL: "" })).toBeUndefined();
  });
});

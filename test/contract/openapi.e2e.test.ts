import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listData, orderData, positionData, samplesOf } from "../e2e/sample-records.ts";
import { startTestPlatform, type TestPlatform } from "../e2e/test-platform.ts";
import { type Journey, preparePython, runPythonClient, runTypescriptClient } from "./generated-clients.ts";

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly responses: object; readonly security?: unknown[]; readonly summary?: string }>>
    >
  >;
}

describe("the published document", () => {
  let platform: TestPlatform;
  let document: Document;
  let preparing: ReturnType<typeof preparePython>;
  beforeAll(async () => {
    // Its packages come over the network while other tests run.
    preparing = preparePython();
    preparing.catch(() => {});
    platform = await startTestPlatform();
    document = (await platform.request("GET", "/api/v1/openapi.json")).body as Document;
  });
  afterAll(() => platform.stop());

  it("is OpenAPI 3.1, public, and names what every route can answer", () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        expect(Object.keys(operation.responses), `${method} ${path}`).not.toEqual([]);
        expect(operation.summary, `${method} ${path}`).toEqual(expect.any(String));
        if (operation.security?.length !== 0)
          expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(["401", "403"]));
      }
    }
  });

  it("declares what the contract asks of this version", () => {
    const event = "/api/v1/organizers/{organizer}/events/{event}";
    const declared = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map(
        (method) => `${method.toUpperCase()} ${path.replaceAll(/\{(?!organizer|event)[^}]+\}/g, "{}")}`,
      ),
    );
    expect(declared).toEqual(
      expect.arrayContaining([
        "POST /api/v1/import/",
        `GET ${event}/checkinlists/`,
        `POST ${event}/checkinlists/`,
        `GET ${event}/checkinlists/{}/`,
        `PATCH ${event}/checkinlists/{}/`,
        `PUT ${event}/checkinlists/{}/`,
        `DELETE ${event}/checkinlists/{}/`,
        `DELETE ${event}/checkinlist/{}/`,
        `GET ${event}/checkinlists/{}/status/`,
        `GET ${event}/checkinlists/{}/positions/`,
        `GET ${event}/checkinlists/{}/positions/{}/`,
        `POST ${event}/checkinlists/{}/positions/{}/redeem/`,
        `GET ${event}/vouchers/`,
        `POST ${event}/vouchers/`,
        `POST ${event}/vouchers/batch_create/`,
        `GET ${event}/vouchers/{}/`,
        `PATCH ${event}/vouchers/{}/`,
        `PUT ${event}/vouchers/{}/`,
        `DELETE ${event}/vouchers/{}/`,
        `GET ${event}/ticketlayouts/`,
        `POST ${event}/ticketlayouts/`,
        `GET ${event}/ticketlayouts/{}/`,
        `PATCH ${event}/ticketlayouts/{}/`,
        `PUT ${event}/ticketlayouts/{}/`,
        `DELETE ${event}/ticketlayouts/{}/`,
        `GET ${event}/ticketlayoutitems/`,
      ]),
    );
  });

  it("is shown without any outside script", async () => {
    const page = await platform.request("GET", "/docs");
    expect(page.status).toBe(200);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    const sources = [...String(page.body).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source ?? "");
    expect(sources.length).toBeGreaterThan(0);
    for (const source of sources) {
      expect(source).not.toMatch(/^(https?:)?\/\//);
      if (!source.startsWith("#") && !source.startsWith("data:"))
        expect((await platform.request("GET", new URL(source, `${platform.baseUrl}/docs`).pathname)).status).toBe(200);
    }
  });

  describe("[S9.4] leads generators to clients that import, upload, scan and read pages:", () => {
    const works = { upload: expect.stringMatching(/^file:/), scan: "ok", refused: true, tickets: 2, shown: 1 };

    it("openapi-typescript with openapi-fetch", async () => {
      const journey = journeyOf("typed");
      expect(await runTypescriptClient(journey)).toEqual({ ...works, accepted: journey.RECORDS.split("\n").length });
    });

    it("openapi-python-client", async ({ skip }) => {
      const python = await preparing;
      if ("missing" in python) return skip(python.missing);
      const journey = journeyOf("pythonic");
      const answer = await runPythonClient(journey, python.folder);
      expect(answer).toEqual({ ...works, accepted: journey.RECORDS.split("\n").length });
    });
  });

  function journeyOf(organizer: string): Journey {
    const { apiKey, groundwork, ofEvent } = samplesOf(organizer);
    const positions = [1, 2].map((id) => positionData({ id, secret: `${organizer}-${id}` }));
    const records = [
      ...groundwork(),
      ...positions.map((position, index) =>
        ofEvent("order", orderData({ code: `CLIENT${index}`, positions: [position] })),
      ),
      ofEvent("checkin_list", listData()),
    ];
    const upload = document.paths["/api/v1/upload"]?.["post"] as unknown as UploadOperation;
    return {
      BASE_URL: platform.baseUrl,
      OPERATOR_KEY: platform.operatorKey,
      API_KEY: apiKey,
      ORGANIZER: organizer,
      EVENT: "sampleconf",
      RECORDS: records.map((record) => JSON.stringify(record)).join("\n"),
      SECRET: `${organizer}-1`,
      PDF: upload.requestBody.content["application/pdf"].example,
    };
  }
});

interface UploadOperation {
  readonly requestBody: { readonly content: { readonly "application/pdf": { readonly example: string } } };
}

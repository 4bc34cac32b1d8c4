import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { arrived, journeyOf } from "../clients/journey.ts";
import { runTypescriptClient } from "../clients/run-client.ts";
import { startTestPlatform, type TestPlatform } from "../e2e/test-platform.ts";

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
  beforeAll(async () => {
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

  it("[S9.4] gives openapi-typescript the types of a client that sells, prints, admits and erases", async () => {
    const journey = journeyOf("typed", platform);
    expect(await runTypescriptClient(journey)).toEqual(arrived(journey));
  });
});

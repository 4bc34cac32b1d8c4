import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { arrived, journeyOf } from "../clients/journey.ts";
import { runTypescriptClient } from "../clients/run-client.ts";
import { startTestPlatform, type TestPlatform } from "../e2e/test-platform.ts";

describe("the published document", () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform();
  });
  afterAll(() => platform.stop());

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

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

  it("[S9.4] gives openapi-typescript the types of a client that sells, prints, admits and erases", async () => {
    const journey = journeyOf("typed", platform);
    expect(await runTypescriptClient(journey)).toEqual(arrived(journey));
  });
});

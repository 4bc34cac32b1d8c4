import { installClientGenerators } from "@tessera/testkit/engines/client-generators";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestPlatform, type TestPlatform } from "../e2e/test-platform.ts";
import { arrived, journeyOf } from "./journey.ts";
import { languages, runClient } from "./run-client.ts";

describe("[S9.4] a generated client compiles, and sells, prints, admits and erases:", () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform();
  });
  afterAll(() => platform?.stop());

  it.each(Object.keys(languages).map((language, index) => [language, `client${index}`] as const))(
    "%s",
    async (language, organizer) => {
      const generators = await installClientGenerators();
      const journey = journeyOf(organizer, platform);
      expect(await runClient(language, journey, generators)).toEqual(arrived(journey));
    },
  );
});

import { readConfig } from "@tessera/kit/config/config";
import { expect, it } from "vitest";
import { settings } from "./config.ts";

it("[A12.1] limits no rate by default", () => {
  expect(readConfig(settings, {})).toMatchObject({ rateLimit: 0, rateLimitRedeem: 0 });
});

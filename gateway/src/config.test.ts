import { readConfig } from "@tessera/kit/config";
import { expect, it } from "vitest";
import { settings } from "./config.ts";

it("[A4.28, A12.1] reads bodies of 10 MiB and limits no rate by default", () => {
  expect(readConfig(settings, {})).toMatchObject({ bodyLimit: 10_485_760, rateLimit: 0, rateLimitRedeem: 0 });
});

import { createLog } from "@tessera/kit/log";
import { expect, it } from "vitest";
import { examinePrinting } from "./examine-printing.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

it("prints a page with the browser of this machine", async () => {
  const [finding, ...more] = await examinePrinting({ environment: process.env, log });
  expect(more).toEqual([]);
  expect(["ok", "warning"]).toContain(finding?.level);
  expect(finding?.what).toMatch(/^the browser printed a page after \d+\.\d s/);
});

it("names the setting where the browser does not start", async () => {
  expect(await examinePrinting({ environment: { CHROMIUM_PATH: "/nowhere/chromium" }, log })).toEqual([
    {
      level: "wrong",
      what: "no ticket can be printed",
      why: expect.stringContaining("no Chromium starts here"),
      mend: expect.stringContaining("CHROMIUM_PATH"),
    },
  ]);
});

it("says what is wrong with a program that is no browser", async () => {
  const [finding] = await examinePrinting({ environment: { CHROMIUM_PATH: "/bin/true" }, log });
  expect(finding).toMatchObject({ level: "wrong", what: "no ticket can be printed" });
});

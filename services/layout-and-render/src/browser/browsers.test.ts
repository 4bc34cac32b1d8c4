import { createLog } from "@tessera/kit/telemetry/log";
import { isCollected } from "@tessera/testkit/collect-garbage";
import { expect, it } from "vitest";
import { Browsers } from "./browsers.ts";
import type { Chromium } from "./chromium.ts";
import { usualLimits } from "./print-queue.ts";

it("a browser that has ended is kept by nothing", async () => {
  const started: WeakRef<Chromium>[] = [];
  const start = async () => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const kill = async () => resolve();
    const chromium = { pid: 1, isSandboxed: true, ended, memory: async () => 0, kill, openTab: () => Promise.reject() };
    started.push(new WeakRef(chromium));
    return chromium;
  };
  const log = createLog({ service: "test", destination: { write: () => {} } });
  const browsers = new Browsers({ start, log, limits: usualLimits });
  const isStarted = async () => (await browsers.current()).isRetired;
  expect(await isStarted()).toBe(false);
  await started[0]?.deref()?.kill();
  await expect.poll(() => Promise.all(started.map(isCollected))).toEqual([true]);
  expect(await isStarted()).toBe(false);
  expect(started).toHaveLength(2);
});

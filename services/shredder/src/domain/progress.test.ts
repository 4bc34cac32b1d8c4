import { expect, it } from "vitest";
import { judgeProgress, type ServiceProgress } from "./progress.ts";

const parts = [{ kind: "order_emails", holding: "order.data", count: 7 }];
const done: ServiceProgress = { service: "boxoffice", state: "done", parts, left: [], kept: [] };

it("[D6.1] a case is closed when every service is done and nothing is left", () => {
  expect(judgeProgress([done, { ...done, service: "checkin", parts: [] }])).toEqual({
    state: "erased",
    parts: [
      { service: "boxoffice", parts, kept: [] },
      { service: "checkin", parts: [], kept: [] },
    ],
  });
});

it.each([
  ["silent", "checkin does not answer"],
  ["unasked", "checkin has not been reached"],
  ["erasing", "checkin is erasing"],
] as const)("[D6.2] a service that is %s is named", (state, expected) => {
  expect(judgeProgress([done, { ...done, service: "checkin", state }])).toMatchObject({
    state: "erasing",
    missing: [expected],
  });
});

it("[D6.2] a service that still has something is named", () => {
  expect(judgeProgress([{ ...done, left: parts }])).toEqual({
    state: "erasing",
    missing: ["boxoffice still has 7 of order.data"],
    isStuck: true,
  });
});

it("[D6.8] a case is stuck where something is left or a request was lost, unless it went with its event", () => {
  const isStuck = (...changes: readonly Partial<ServiceProgress>[]) =>
    judgeProgress(
      changes.map((change, index) => ({ ...done, service: index === 0 ? "boxoffice" : "checkin", ...change })),
    );
  expect(isStuck({}, { left: parts })).toMatchObject({ isStuck: true });
  expect(isStuck({}, { state: "unasked" })).toMatchObject({ isStuck: true });
  expect(isStuck({}, { state: "erasing" })).toMatchObject({ isStuck: false });
  expect(isStuck({}, { state: "silent" })).toMatchObject({ isStuck: false });
  expect(isStuck({ state: "unasked" }, { state: "unasked" })).toMatchObject({ isStuck: false });
});

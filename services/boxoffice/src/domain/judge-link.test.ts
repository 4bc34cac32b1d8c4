import { expect, it } from "vitest";
import { judgeLink, type MediumBefore, mostLinks } from "./judge-link.ts";

const now = 1000;
const medium = (changes: Partial<MediumBefore> = {}): MediumBefore => ({
  ...{ active: true, expires: null, isLinked: false, links: 0 },
  ...changes,
});

it.each([
  ["reuse", undefined, "invalid"],
  ["new", undefined, "make"],
  ["reuse_or_new", undefined, "make"],
  ["reuse", medium(), "link"],
  ["new", medium(), "exists"],
  ["reuse_or_new", medium(), "link"],
  ["reuse", medium({ active: false }), "invalid"],
  ["new", medium({ active: false }), "exists"],
  ["reuse_or_new", medium({ expires: now }), "invalid"],
  ["reuse_or_new", medium({ expires: now + 1 }), "link"],
  ["reuse", medium({ links: mostLinks }), "invalid"],
  ["new", medium({ isLinked: true }), "linked"],
  ["new", medium({ isLinked: true, active: false }), "exists"],
] as const)("[E8.4] the policy %s and the medium %o come to %s", (policy, before, verdict) => {
  expect(judgeLink({ policy, medium: before, hasOther: false, now })).toBe(verdict);
});

it("[E8.3] a ticket with another medium gets no second one, but keeps the one it has", () => {
  const judge = (before?: MediumBefore) => judgeLink({ policy: "reuse_or_new", medium: before, hasOther: true, now });
  expect([judge(), judge(medium()), judge(medium({ isLinked: true }))]).toEqual(["other", "other", "linked"]);
});

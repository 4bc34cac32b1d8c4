import { expect, it } from "vitest";
import { judgeLink, type MediumBefore, mostLinks } from "./judge-link.ts";

const now = 1000;
const medium = (changes: Partial<MediumBefore> = {}): MediumBefore => ({
  ...{ active: true, expires: null, isLinked: false, links: 0, isTaken: false },
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
  ["reuse", medium({ isTaken: true }), "exists"],
  ["reuse_or_new", medium({ isTaken: true, isLinked: true }), "linked"],
  ["reuse_or_new", medium({ isTaken: true, active: false }), "invalid"],
  ["new", medium({ isLinked: true }), "linked"],
  ["new", medium({ isLinked: true, active: false }), "exists"],
] as const)("[E8.4] the policy %s and the medium %o come to %s", (policy, before, verdict) => {
  expect(judgeLink({ policy, medium: before, hasOther: false, isTicketCode: false, now })).toBe(verdict);
});

it("[E8.3] a ticket with another medium gets no second one, but keeps the one it has", () => {
  const judge = (before?: MediumBefore) =>
    judgeLink({ policy: "reuse_or_new", medium: before, hasOther: true, isTicketCode: false, now });
  expect([judge(), judge(medium()), judge(medium({ isLinked: true }))]).toEqual(["other", "other", "linked"]);
});

it.each(["reuse", "new", "reuse_or_new"])("[E8.4] the code of a ticket is no medium for the policy %s", (policy) => {
  const judge = (before?: MediumBefore) =>
    judgeLink({ policy, medium: before, hasOther: false, isTicketCode: true, now });
  expect([judge(), judge(medium()), judge(medium({ isLinked: true }))]).toEqual(["invalid", "invalid", "linked"]);
});

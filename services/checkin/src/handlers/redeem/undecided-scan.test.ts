import { expect, it } from "vitest";
import { inWord, scan } from "../../testing/start-checkin.ts";
import { unknownYet } from "./decision.ts";
import { undecided } from "./outcome.ts";
import { type RedeemDeps, redeem } from "./redeem.ts";

it("[C3.16] a scan is undecided, and not decided again, if boxoffice could not be asked for its code", async () => {
  let submitted = 0;
  const deps = {
    clock: { now: () => 0 },
    events: { scanDecided() {}, scanAhead() {} },
    batches: {
      submit: async () => {
        submitted += 1;
        return unknownYet;
      },
    },
    unknownTickets: { mayBeAsked: () => true, fetch: async () => false },
  } as unknown as RedeemDeps;
  const call = { signal: new AbortController().signal, deadline: Date.now() + 5000 };
  const { outcome } = await redeem({ scan: scan(1, "secret1") }, deps, call);
  expect([inWord(outcome ?? undecided), submitted]).toEqual(["undecided", 1]);
});

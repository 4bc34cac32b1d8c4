import { expect, it } from "vitest";
import { chooseList, type DecisionOnList } from "./choose-list.ts";
import { decideScan } from "./decide-scan.ts";
import type { AdmissionTerms } from "./list.ts";
import { arrivedScan, hour, match, noon, readerOf, readers } from "./testing/decisions.ts";
import type { Match } from "./ticket.ts";

const everything: AdmissionTerms = {
  ...{ allProducts: true, limitProducts: [], subevent: null },
  ...{ includePending: false, allowMultipleEntries: false, allowEntryAfterExit: true },
};

interface Found {
  readonly matches?: readonly Match[];
  readonly on?: Partial<AdmissionTerms>;
  readonly isRevoked?: boolean;
  readonly isMediumElsewhere?: boolean;
}

/** The decision on one list of what its event has. */
function decided({ matches = [], on, isRevoked = false, isMediumElsewhere = false }: Found): DecisionOnList<Match> {
  const list = { ...everything, ...on };
  const reader = readerOf("UTC", "en");
  const circumstances = { list, room: null, rules: null, reader, wordingOf: () => readers.wording("en") };
  const found = { matches, isRevoked, isMediumElsewhere, isMediumEnforced: false };
  return { list, verdict: decideScan(arrivedScan(), { ...circumstances, ...found }) };
}

const choose = (...lists: Found[]) => chooseList(lists.map(decided), noon);
const nothing: Found = {};
const ticket: Found = { matches: [match()] };
const clear = (index: number) => ({ index, isAmbiguous: false });
const unclear = (index: number) => ({ index, isAmbiguous: true });

it("[E6.2] the list decides whose event has the ticket, whatever it decides", () => {
  expect(choose(nothing, ticket, nothing)).toEqual(clear(1));
  expect(choose(nothing, { matches: [match({ blocked: true })] })).toEqual(clear(1));
  expect(choose({ matches: [match({ canceled: true })] }, ticket)).toEqual(clear(1));
});

it("[E6.2] the first list answers for an unknown code", () => {
  expect(choose(nothing, nothing)).toEqual(clear(0));
});

it("[E6.3] of tickets in several events the one on its list is meant, then the valid one", () => {
  const other = { on: { allProducts: false, limitProducts: [99] } };
  expect(choose({ ...ticket, ...other }, ticket)).toEqual(clear(1));
  const over = { matches: [match({ validUntil: noon - hour })] };
  expect(choose(over, ticket)).toEqual(clear(1));
  expect(choose({ ...over, ...other }, { matches: [match({ validFrom: noon + hour })] })).toEqual(clear(1));
});

it("[E6.3] tickets in several events that nothing tells apart are ambiguous", () => {
  expect(choose(nothing, ticket, ticket)).toEqual(unclear(1));
  const two = { matches: [match({ id: 1 }), match({ id: 2 })] };
  expect(choose(two)).toEqual(unclear(0));
  const elsewhere = { ...ticket, on: { allProducts: false, limitProducts: [99] } };
  expect(choose(elsewhere, two)).toEqual(unclear(1));
});

it("[E6.4] an earlier admission under the nonce counts first", () => {
  const repeated = { matches: [match({ canceled: true }, { hasNonce: true })] };
  expect(choose(ticket, repeated)).toEqual(clear(1));
});

it("[E6.2] a revoked code counts where no ticket has the code, and says more than an unknown one", () => {
  const revoked = { matches: [match({}, { foundBy: "revoked" })], isRevoked: true };
  expect(choose(revoked, ticket)).toEqual(clear(1));
  expect(choose(nothing, revoked)).toEqual(clear(1));
  expect(choose(revoked, revoked)).toEqual(clear(0));
  expect(choose(nothing, { isRevoked: true })).toEqual(clear(1));
  expect(choose(nothing, { isMediumElsewhere: true })).toEqual(clear(1));
  expect(choose({ isMediumElsewhere: true }, { isRevoked: true })).toEqual(clear(1));
});

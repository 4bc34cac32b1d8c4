import { type RecordOwnerName, recordKinds } from "@tessera/protos/record-kinds";
import { expect, it } from "vitest";
import { fakePeers } from "../testing/fake-peers.ts";
import { recordOwners } from "./owners.ts";

const owners = recordOwners(fakePeers().clients);

it("every owner of a kind of record can be sent records", () => {
  const named = Object.values(recordKinds).map(({ owner }) => owner);
  expect(Object.keys(owners).sort()).toEqual([...new Set(named)].sort());
});

it("no owner waits for itself, not even by way of others", () => {
  const waitsFor = (owner: RecordOwnerName, above: readonly RecordOwnerName[]): void => {
    expect(above).not.toContain(owner);
    for (const other of owners[owner].after) waitsFor(other, [...above, owner]);
  };
  for (const owner of Object.keys(owners) as RecordOwnerName[]) waitsFor(owner, []);
});

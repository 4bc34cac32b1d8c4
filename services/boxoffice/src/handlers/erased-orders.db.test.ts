import type { Db } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import { erase } from "@tessera/testkit/erase";
import { expect, it } from "vitest";
import { bare, erasableOrders, everyKind, order, place } from "../testing/erasable-orders.ts";
import { answersFact, deliverAnswers, given } from "../testing/given-at-gate.ts";
import { listOrderPositions } from "./order-positions.ts";
import { getOrder, listOrders } from "./orders.ts";

const orders = erasableOrders();
const reads = { inTurn: (_party: string, read: (db: Db) => unknown) => read(orders.db) } as unknown as Reads;
const canceled = { positions: true, fees: true };
const list = (changedSince?: number) =>
  listOrders({ ...place, page: 1, pageSize: 50, ordering: [], orOfPositions: [], canceled, changedSince }, { reads });

it("[E4.10] show nothing that was erased, count as changed, and are otherwise as before", async () => {
  await deliverAnswers(orders.db, answersFact([given(2, 1, "typed at a gate by Ada Quill")]));
  const before = JSON.stringify((await list()).orders.map(({ json, positions }) => [String(json), positions]));
  const personal = ["Ada Quill", "ada@example.org", "buyer@example.org", "+4930123456", "1 Road", "vegan", "ada.png"];
  expect(personal.filter((text) => before.includes(text))).toEqual(
    expect.arrayContaining(["Ada Quill", "ada@example.org", "buyer@example.org", "+4930123456", "1 Road"]),
  );
  expect(before).toContain("typed at a gate");
  const { asOf } = await list();
  await erase(orders.service, place, { kinds: everyKind });
  const { orders: changed } = await list(asOf);
  expect(changed.map(({ json }) => JSON.parse(String(json)).code)).toEqual(["FULL"]);
  const shown = [
    (await list()).orders,
    (await getOrder({ ...place, code: "FULL", canceled }, { reads })).order,
    (await listOrderPositions({ ...place, page: 1, pageSize: 50, withCanceled: true }, { reads })).positions,
  ];
  const texts = JSON.stringify(shown, (_name, value) =>
    value?.type === "Buffer" ? String(Buffer.from(value)) : value,
  );
  expect([...personal, "typed at a gate"].filter((text) => texts.includes(text))).toEqual([]);
  const [full] = changed;
  expect(JSON.parse(String(full?.json))).toMatchObject({
    ...{ code: "FULL", email: null, phone: null, invoice_address: null, status: "p" },
    positions: [
      { id: 1, attendee_name: null, attendee_email: null, country: "DE", secret: "s3cret-of-the-ticket" },
      { id: 2, canceled: true },
    ],
  });
  expect(full?.positions).toMatchObject([{ position: { answers: [], attendeeNameParts: {} } }, {}]);
});

it("[E4.10] may be new after an erasure, and then are shown", async () => {
  await erase(orders.service, place, { kinds: everyKind });
  const { asOf } = await list();
  await orders.take(bare, order({ code: "NEW", datetime: new Date(Date.now() + 1000).toISOString(), positions: [] }));
  expect((await list(asOf)).orders.map(({ json }) => JSON.parse(String(json)))).toMatchObject([
    { code: "NEW", email: "buyer@example.org" },
  ]);
});

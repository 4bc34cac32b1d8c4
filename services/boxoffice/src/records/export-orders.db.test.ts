import { randomUUID } from "node:crypto";
import { sql } from "@tessera/kit/pg/sql";
import { PersonalData } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { fileWith } from "@tessera/sent-files/testing/sample-files";
import { readExport } from "@tessera/testkit/erase";
import { collect } from "@tessera/testkit/files-contract";
import { finishWork } from "@tessera/testkit/finish-work";
import { describe, expect, it } from "vitest";
import { address, erasableOrders, place } from "../testing/erasable-orders.ts";
import { answersFact, given } from "../testing/given-at-gate.ts";
import { position, sample } from "../testing/records.ts";

const orders = erasableOrders();
const fileAnswer = `data:image/png;base64,${fileWith("image/png", "grace").toString("base64")}`;
const { take } = orders;

describe("an export of orders", () => {
  it("[D3.15, D3.16] has the files of the documentation, of canceled tickets too", async () => {
    const read = (file: string) => readExport(orders.service, place, file);
    const { files: described } = await orders.service.connect(PersonalData).describeEvent(place);
    expect(described.map(({ kind, name }) => [kind, name])).toEqual([
      ["attendee_info", "attendee-info.json"],
      ["order_emails", "emails-by-order.json"],
      ["order_emails", "emails-by-attendee.json"],
      ["phone_numbers", "phone-by-order.json"],
      ["invoice_addresses", "invoice-addresses.json"],
      ["question_answers", "question-answers.json"],
      ["question_answers", "question-answers files"],
    ]);
    const who = { name: "Ada Quill", ...address, country: "DE", state: "BE" };
    expect(await read("attendee-info.json")).toEqual({ "FULL-1": who, "FULL-2": who });
    expect(await read("emails-by-order.json")).toEqual({ FULL: "buyer@example.org" });
    expect(await read("emails-by-attendee.json")).toEqual({ "FULL-1": "ada@example.org", "FULL-2": "ada@example.org" });
    expect(await read("phone-by-order.json")).toEqual({ FULL: "+4930123456" });
    expect(await read("invoice-addresses.json")).toEqual({
      FULL: expect.objectContaining({
        ...{ name: "Ada Quill", ...address, custom_field: null, last_modified: null },
      }),
    });
    const said = { last_modified: "2026-05-01T12:00:00Z", custom_field: "Cost centre 7" };
    await take(
      sample.order({ code: "SAID", invoice_address: said, positions: [position({ id: 9, secret: "ninth" })] }),
    );
    expect(await read("invoice-addresses.json")).toHaveProperty("SAID", expect.objectContaining(said));
  });

  it("[D3.21] composes names that came as parts", async () => {
    const parts = { _scheme: "given_family", given_name: "Grace", family_name: "Example" };
    const named = position({ id: 9, secret: "ninth", attendee_name_parts: parts });
    const nameless = position({ id: 10, positionid: 2, secret: "tenth", attendee_name_parts: { _scheme: "full" } });
    await take(sample.order({ code: "PART", positions: [named, nameless] }));
    const empty = { company: null, street: null, zipcode: null, city: null, country: null, state: null };
    const found = (await readExport(orders.service, place, "attendee-info.json")) as object;
    expect(Object.keys(found)).toEqual(["FULL-1", "FULL-2", "PART-1"]);
    expect(found).toHaveProperty("PART-1", { name: "Grace Example", ...empty });
  });

  it("[D3.16] has the answers of gates beside those of records, and the files that visitors sent", async () => {
    await orders.service.deliver(topics.answersGiven, [answersFact([given(2, 7, "meat")])]);
    const path = "/api/v1/organizers/org/events/fest/orderpositions/1/answer/1/";
    expect(await readExport(orders.service, place, "question-answers.json")).toEqual({
      "FULL-1": [
        expect.objectContaining({ question: 1, answer: path, question_identifier: "PHOTO" }),
        expect.objectContaining({ question: 2, answer: "meat" }),
      ],
    });
    const [name, key] =
      Object.entries((await readExport(orders.service, place, "question-answers files")) as object)[0] ?? [];
    expect(name).toBe("FULL-1-PHOTO-ada.png");
    expect((await collect(orders.files.list(""))).map((file) => file.key)).toContain(key);
  });

  it("[D3.25] names questions and options of answers whose records do not", async () => {
    const options = [{ id: 31, identifier: "VEGAN", answer: { en: "Vegan" } }];
    const photo = { question: 1, answer: fileAnswer, file_name: "grace.png" };
    const answers = [photo, { question: 3, answer: "Vegan", options: [31] }, { question: 4, answer: "so" }];
    await take(
      sample.question({ id: 1, type: "F", identifier: "PHOTO" }),
      sample.question({ id: 3, type: "C", identifier: "FOOD", options }),
      sample.question({ id: 4, type: "S" }),
      sample.order({ code: "UNNAMED", positions: [position({ id: 9, secret: "ninth", answers })] }),
    );
    expect(await readExport(orders.service, place, "question-answers.json")).toMatchObject({
      "UNNAMED-1": [
        { question: 1, question_identifier: "PHOTO", option_identifiers: [] },
        { question: 3, question_identifier: "FOOD", options: [31], option_identifiers: ["VEGAN"] },
        { question: 4, question_identifier: "4" },
      ],
    });
    expect(await readExport(orders.service, place, "question-answers files")).toHaveProperty([
      "UNNAMED-1-PHOTO-grace.png",
    ]);
  });

  it("[D3.16] has files that gates alone have asked for, and none where there is none", async () => {
    const names = async () =>
      Object.keys((await readExport(orders.service, place, "question-answers files")) as object);
    await orders.db.run(sql`delete from answer_file where event = 'fest'`);
    expect(await names()).toEqual([]);
    const upload = randomUUID();
    await orders.files.put(`uploads/${upload}`, fileWith("image/png", "at the gate"), { contentType: "image/png" });
    await orders.service.deliver(topics.answersGiven, [
      answersFact([given(1, 8, "a file", { upload })], { position: 2 }),
    ]);
    await finishWork(orders.db, orders.service.workers);
    expect(await names()).toEqual([expect.stringMatching(/^FULL-2-/)]);
  });

  it("[D3.16] reads all orders, page by page", async () => {
    const many = Array.from({ length: 201 }, (_, at) =>
      sample.order({
        code: `A${at}`,
        phone: `+${at}`,
        positions: [position({ id: 100 + at, secret: `many${at}` })],
      }),
    );
    await take(...many);
    expect(Object.keys((await readExport(orders.service, place, "phone-by-order.json")) as object)).toHaveLength(202);
  });
});

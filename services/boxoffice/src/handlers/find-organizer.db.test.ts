import { expect, it } from "vitest";
import { emptyOffice } from "../testing/empty-office.ts";
import { record, sample } from "../testing/records.ts";
import { findOrganizer } from "./find-organizer.ts";

const office = emptyOffice();

it("[D9.14] an organizer is the same while it exists, whatever it is called, and another one afterwards", async () => {
  const find = () => findOrganizer({ organizer: "org" }, { db: office.db });
  const none = { kind: "not_found", code: "organizer_not_found" };
  await expect(find()).rejects.toMatchObject(none);
  await office.apply(sample.organizer());
  const { createdAt } = await find();
  await office.apply(sample.organizer({ name: "Renamed" }));
  expect(await find()).toEqual({ createdAt });
  await office.apply(record("organizer", { slug: "org" }, { deleted: true }));
  await expect(find()).rejects.toMatchObject(none);
  await office.apply(sample.organizer());
  expect((await find()).createdAt).toBeGreaterThan(createdAt);
});

import { sql } from "@tessera/kit/pg/sql";
import { beforeEach, describe, expect, it } from "vitest";
import { deleted, emptyOffice } from "../testing/empty-office.ts";
import { takeFacts } from "../testing/facts.ts";
import { sample } from "../testing/records.ts";

const office = emptyOffice();

describe("settings of an event", () => {
  beforeEach(async () => {
    await office.apply(sample.organizer(), sample.event());
    await takeFacts(office.db);
  });

  const settings = sample.eventSettings({
    locale: "de-informal",
    timezone: "Asia/Tokyo",
    ticketoutput_pdf__enabled: false,
    ticket_download_addons: true,
    ticket_download_nonadm: false,
    ticket_download_pending: true,
    unknown: 1,
  });

  it("[R2.3, R2.5, R3.15] are published as part of it", async () => {
    expect(await office.apply(settings)).toEqual({});
    const [fact, ...rest] = await takeFacts(office.db);
    expect(rest).toEqual([]);
    expect(fact).toMatchObject({
      topic: "event-changed",
      value: {
        locale: "de-informal",
        timezone: "Asia/Tokyo",
        ticketDownload: { pdfEnabled: false, addons: true, nonAdmission: false, pending: true },
      },
    });
    const { settings: stored } = await office.db.one<{ settings: object }>(sql`select settings from event`);
    expect(stored).toMatchObject({ ticket_secret_length: 32, name_scheme: "full" });
    expect(stored).not.toHaveProperty("unknown");
  });

  it("[R3.16, R3.17] stay when the event changes, and yield to its own zone", async () => {
    await office.apply(settings);
    await office.apply(sample.event({ timezone: "Europe/Berlin" }));
    const fact = (await takeFacts(office.db)).at(-1);
    expect(fact?.value).toMatchObject({ locale: "de-informal", timezone: "Europe/Berlin" });
    expect(JSON.parse(Buffer.from(fact?.value?.["document"] as Uint8Array).toString())).toMatchObject({
      slug: "fest",
      timezone: "Europe/Berlin",
      date_from: "2026-07-01T16:00:00Z",
      currency: "EUR",
      plugins: [],
      location: null,
    });
  });

  it("[R3.15] return to their defaults when they are removed", async () => {
    await office.apply(settings, sample.eventSettings(), deleted("event_settings", {}));
    expect((await takeFacts(office.db)).map(({ value }) => value?.["locale"])).toEqual(["de-informal", "en", "en"]);
    await office.apply(deleted("event_settings", {}));
    expect(await takeFacts(office.db)).toEqual([]);
  });

  it("need their event", async () => {
    expect(await office.apply({ ...settings, event: "other" })).toEqual({
      1: { event: ["The event is not known; its record must come first."] },
    });
  });
});

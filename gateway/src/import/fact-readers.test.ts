import { describe, expect, it } from "vitest";
import { type FactClients, factReaders } from "./fact-readers.ts";

const reader = () => ({ caughtUp: async () => ({ caughtUp: true }) });
const clients: FactClients = {
  boxofficeFacts: reader(),
  checkinFacts: reader(),
  voucherFacts: reader(),
  layoutFacts: reader(),
  offlineSalesFacts: reader(),
  shredderFacts: reader(),
};
const gateway = reader().caughtUp;

describe("factReaders", () => {
  it("[R7.5] names every service", () => {
    const readers = factReaders(clients, { isInstalled: () => true, gateway });
    expect(Object.fromEntries(readers)).toEqual({
      boxoffice: clients.boxofficeFacts.caughtUp,
      checkin: clients.checkinFacts.caughtUp,
      voucher: clients.voucherFacts.caughtUp,
      "layout-and-render": clients.layoutFacts.caughtUp,
      "offline-sales": clients.offlineSalesFacts.caughtUp,
      shredder: clients.shredderFacts.caughtUp,
      gateway,
    });
  });

  it("[R7.5] leaves out what is not installed", () => {
    const readers = factReaders(clients, { isInstalled: (service) => service === "checkin", gateway });
    expect([...readers.keys()]).toEqual(["checkin", "gateway"]);
  });
});

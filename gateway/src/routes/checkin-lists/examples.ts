import { firstIdMadeHere } from "@tessera/values";
import { examplePage } from "../../http/example-page.ts";
import type { Example } from "../../http/route.ts";

const entrance = {
  id: 1,
  name: "Main entrance",
  all_products: false,
  limit_products: [1, 2, 3],
  subevent: null,
  checkin_count: 0,
  position_count: 2980,
  include_pending: false,
  allow_multiple_entries: false,
  allow_entry_after_exit: true,
  rules: {},
  exit_all_at: null,
  addon_match: false,
  ignore_in_statistics: false,
  consider_tickets_used: true,
};

const lounge = {
  ...entrance,
  id: 3,
  name: "VIP lounge",
  limit_products: [3],
  position_count: 278,
  exit_all_at: "2027-05-12T21:00:00Z",
};

const sentLounge = {
  name: "VIP lounge",
  all_products: false,
  limit_products: [3],
  allow_entry_after_exit: true,
  exit_all_at: "2027-05-12T23:00:00+02:00",
};

export const checkinListExamples = {
  list: { status: 200, query: { page_size: 2 }, answer: examplePage(entrance, lounge) },
  get: { status: 200, answer: entrance },
  create: {
    status: 201,
    body: { name: "North gate", all_products: false, limit_products: [1, 2] },
    answer: { ...entrance, id: firstIdMadeHere, name: "North gate", limit_products: [1, 2], position_count: 2702 },
  },
  patch: { status: 200, path: { id: 3 }, body: { exit_all_at: sentLounge.exit_all_at }, answer: lounge },
  put: { status: 200, path: { id: 3 }, body: sentLounge, answer: lounge },
  remove: { status: 204, path: { id: 4 } },
  removeSingular: { status: 204, path: { id: 2 } },
  status: {
    status: 200,
    answer: {
      checkin_count: 0,
      position_count: 2980,
      inside_count: 0,
      event: { name: "Demo Conference" },
      items: [
        {
          name: "Conference ticket",
          id: 1,
          checkin_count: 0,
          position_count: 2086,
          admission: true,
          variations: [],
        },
      ],
    },
  },
} satisfies Readonly<Record<string, Example>>;

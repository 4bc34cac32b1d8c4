import { firstIdMadeHere } from "@tessera/values";
import { exampleFirstPage } from "../../http/example-page.ts";
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
  soft_limit: null,
  hard_limit: null,
  takes_from: [],
};

const lounge = {
  ...entrance,
  id: 3,
  name: "VIP lounge",
  limit_products: [3],
  position_count: 278,
  exit_all_at: "2027-05-12T21:00:00Z",
};

const dinner = {
  ...entrance,
  id: 4,
  name: "VIP dinner",
  all_products: true,
  limit_products: [],
  position_count: 3904,
  allow_multiple_entries: true,
  rules: {
    and: [
      { inList: [{ var: "product" }, { objectList: [{ lookup: ["product", "3", "VIP ticket"] }] }] },
      {
        or: [
          { inList: [{ var: "gate" }, { objectList: [{ lookup: ["gate", "1", "Main entrance"] }] }] },
          { isAfter: [{ var: "now" }, { buildTime: ["date_admission"] }, 30] },
        ],
      },
      { "<": [{ var: "entries_today" }, 1] },
    ],
  },
};

const itemStatus = (id: number, name: string, position_count: number) => ({
  name,
  id,
  checkin_count: 0,
  position_count,
  admission: true,
  variations: [],
});

const sentLounge = {
  name: "VIP lounge",
  all_products: false,
  limit_products: [3],
  allow_entry_after_exit: true,
  exit_all_at: "2027-05-12T23:00:00+02:00",
};

export const checkinListExamples = {
  list: {
    status: "ok",
    query: { page_size: 2 },
    answer: exampleFirstPage([entrance, dinner], { count: 4, next: "checkinlists/?page=2&page_size=2" }),
  },
  get: { status: "ok", answer: entrance },
  create: {
    status: "created",
    body: { name: "North gate", all_products: false, limit_products: [1, 2] },
    answer: { ...entrance, id: firstIdMadeHere, name: "North gate", limit_products: [1, 2], position_count: 2702 },
  },
  patch: { status: "ok", path: { id: 3 }, body: { exit_all_at: sentLounge.exit_all_at }, answer: lounge },
  put: { status: "ok", path: { id: 3 }, body: sentLounge, answer: lounge },
  remove: { status: "noContent", path: { id: 4 } },
  removeSingular: { status: "noContent", path: { id: 2 } },
  status: {
    status: "ok",
    answer: {
      checkin_count: 0,
      position_count: 2980,
      inside_count: 0,
      event: { name: "Demo Conference" },
      items: [
        itemStatus(1, "Conference ticket", 2086),
        itemStatus(2, "Student ticket", 616),
        itemStatus(3, "VIP ticket", 278),
      ],
    },
  },
} satisfies Readonly<Record<string, Example>>;

import type { Example } from "../../http/route.ts";

const said = {
  hardware_brand: "Samsung",
  hardware_model: "SM-G525F",
  software_brand: "pretixSCAN Android",
  software_version: "2.3.1",
};

const device = {
  organizer: "demo",
  device_id: 2,
  unique_serial: "9F2C51D07AB34E18",
  name: "Scanner 2",
  security_profile: "pretixscan",
  gate: { id: 1, name: "Main entrance" },
};

const token = "kq3vx8m1zt0c5wn7r2jd9yhb4gf6slpa".repeat(2);
const version = { pretix: "4.12.0", pretix_numeric: 40120001001 };

export const deviceRouteExamples = {
  initialize: {
    status: "ok",
    follows: "createDevice",
    body: { token: "kpp4jn8g2ynznnp6", ...said },
    answer: { ...device, api_token: token },
  },
  update: { status: "ok", follows: "initializeDevice", body: said, answer: device },
  info: { status: "ok", follows: "initializeDevice", answer: { device, server: { version }, medium_key_sets: [] } },
  select: {
    status: "ok",
    follows: "initializeDevice",
    answer: {
      event: { slug: "conference", name: { de: "Demo-Konferenz", en: "Demo Conference" } },
      subevent: null,
      checkinlist: 1,
    },
  },
  roll: { status: "ok", follows: "initializeDevice", body: {}, answer: { ...device, api_token: token } },
  revoke: { status: "ok", follows: "initializeDevice", body: {}, answer: device },
  version: { status: "ok", answer: version },
} satisfies Readonly<Record<string, Example>>;

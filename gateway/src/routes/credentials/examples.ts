import { examplePage } from "../../http/example-page.ts";
import type { Example } from "../../http/route.ts";

const key = { id: "c1d3baebebef5fc2", name: "demo", permissions: ["*"], all_events: true, events: [], active: true };
const gate = { name: "gate", permissions: ["event.orders:checkin"], all_events: true };
const gateShown = { ...key, ...gate, id: "9f2c51d07ab34e18" };

const scanner = {
  device_id: 2,
  name: "Scanner 2",
  gate: 1,
  security_profile: "pretixscan",
  software_brand: "",
  all_events: true,
  events: [],
  revoked: false,
};

const code = "kpp4jn8g2ynznnp6";

const token = "kq3vx8m1zt0c5wn7r2jd9yhb4gf6slpa".repeat(2);

export const apiKeyExamples = {
  list: { status: "ok", answer: examplePage(key) },
  create: { status: "created", body: gate, answer: { ...gateShown, token, settled: true } },
  revoke: { status: "ok", follows: "createApiKey", answer: { ...gateShown, active: false, settled: true } },
} satisfies Readonly<Record<string, Example>>;

export const deviceExamples = {
  list: {
    status: "ok",
    answer: examplePage({
      ...scanner,
      device_id: 1,
      name: "Scanner 1",
      security_profile: "full",
      software_brand: "demo",
      ...{ last_contact: "2027-05-12T06:31:08.219342Z", last_sync: null, queue_length: null, battery_level: null },
    }),
  },
  create: {
    status: "created",
    body: { name: "Scanner 2", gate: 1, security_profile: "pretixscan", all_events: true },
    answer: {
      ...{ ...scanner, token, initialization_token: code, settled: true },
      setup: `{"handshake_version":1,"url":"http://localhost:8000","token":"${code}"}`,
    },
  },
  revoke: {
    status: "ok",
    path: { device: 2 },
    follows: "createDevice",
    answer: { ...scanner, revoked: true, settled: true },
  },
} satisfies Readonly<Record<string, Example>>;

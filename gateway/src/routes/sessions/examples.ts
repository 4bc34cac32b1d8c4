import { examplePage } from "../../http/example-page.ts";
import type { Example } from "../../http/route.ts";

const grant = { permissions: ["event.orders:read"], all_events: true, events: [] };
const id = "7c1f6d52-3a0e-4d0b-8f5e-2b9a54c1d7e3";
const token = "kq3vx8m1zt0c5wn7r2jd9yhb4gf6slpa".repeat(2);
const expires = "2027-05-12T18:30:00.000000Z";
const own = { organizer: "demo", name: "Screen at the entrance", ...grant, expires };

export const sessionExamples = {
  create: {
    status: "created",
    body: { name: "Screen at the entrance", all_events: true },
    answer: { id, link: `http://localhost:8000/board/#link=${token}`, expires: "2027-05-12T07:30:00.000000Z" },
  },
  list: {
    status: "ok",
    answer: examplePage({
      ...{ id, name: "Screen at the entrance", state: "in use", ...grant },
      ...{ created: "2027-05-12T06:30:00.000000Z", began: "2027-05-12T06:30:00.000000Z", expires },
    }),
  },
  revoke: { status: "noContent", path: { session: id }, follows: "createSignInLink" },
  begin: { status: "ok", body: { link: token }, answer: own, follows: "createSignInLink" },
  get: { status: "ok", answer: own, follows: "beginSession" },
  end: { status: "noContent", follows: "beginSession" },
} satisfies Readonly<Record<string, Example>>;

import { exampleEvent, examplePage } from "../../http/example-page.ts";
import type { Example } from "../../http/route.ts";
import { kindsByName } from "./kinds-by-name.ts";

const root = `${exampleEvent}/shredders`;
const id = "5f0c8a52-6b0e-4c7e-9d55-0e6f5f3a9c11";
const emails = { identifier: "order_emails", verbose_name: "Emails" };
const publicKey =
  "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAyKP67NbMIq/koT4tpU/aNDm3HswSMCcZnP9yizCjDmY=\n-----END PUBLIC KEY-----\n";

const certificate = {
  statement: { organizer: "demo", event: "conference", shredders: ["order_emails"], erased: "2027-06-01T09:00:00Z" },
  signed: '{"organizer":"demo","event":"conference","shredders":["order_emails"],"erased":"2027-06-01T09:00:00Z"}',
  signature: "3n2hJ1b0V7yq9wYb0o3yM1Yq1tXkZ8mJm0cWqkq3sN1m6m3d0Jp6m0r8eT5hQn5Vd2b7JwS2o8x4K9y1uL6gAA==",
  public_key: publicKey,
};

export const shredderExamples = {
  list: { status: "ok", answer: examplePage(...kindsByName) },
  get: { status: "ok", answer: emails },
  export: {
    status: "accepted",
    body: { shredders: ["order_emails"] },
    answer: { download: `${root}/download/${id}/${id}/`, shred: `${root}/shred/${id}/${id}/` },
  },
  download: { status: "ok", follows: "exportPersonalData" },
  shred: { status: "accepted", follows: "exportPersonalData", answer: { status: `${root}/status/${id}/${id}/` } },
  status: {
    status: "ok",
    follows: "shredPersonalData",
    answer: { status: "ok", message: "All selected personal data was erased." },
  },
  certificate: { status: "ok", follows: "shredPersonalData", answer: certificate },
  certificateOfOrganizer: { status: "ok", follows: "shredPersonalData", answer: certificate },
  certificateKey: { status: "ok", answer: { public_key: publicKey } },
} satisfies Readonly<Record<string, Example>>;

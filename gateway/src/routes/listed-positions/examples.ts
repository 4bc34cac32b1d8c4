import { exampleEvent, examplePage } from "../../http/example-page.ts";
import type { Example } from "../../http/route.ts";

export const scanExample = {
  id: 1,
  datetime: "2027-05-12T06:31:08.214000Z",
  list: 1,
  auto_checked_in: false,
  gate: null,
  device: null,
  device_id: null,
  type: "entry",
};

/** A ticket of the demo as a list shows it. */
export const ticketExample = {
  id: 2,
  order: "7HCAAC",
  positionid: 1,
  item: 2,
  variation: null,
  price: "89.00",
  attendee_name: "Øystein Weiß",
  attendee_name_parts: {
    _scheme: "given_family",
    given_name: "Øystein",
    family_name: "Weiß",
    full_name: "Øystein Weiß",
  },
  company: null,
  street: null,
  zipcode: null,
  city: null,
  country: null,
  state: null,
  attendee_email: null,
  voucher: null,
  tax_rate: "19.00",
  tax_value: "0.00",
  secret: "skf5nd68tj9svceenh72c7xt5nyzery4",
  addon_to: null,
  subevent: null,
  checkins: [],
  print_logs: [],
  downloads: [
    {
      output: "pdf",
      url: `${exampleEvent}/orderpositions/2/download/pdf/`,
    },
  ],
  answers: [],
  tax_rule: 1,
  pseudonymization_id: "EYAQQEKHAV",
  seat: null,
  require_attention: false,
  order__status: "p",
  order__valid_if_pending: false,
  order__require_approval: false,
  order__locale: "en",
  valid_from: null,
  valid_until: null,
  blocked: null,
};

export const listedPositionExamples = {
  list: { status: "ok", query: { search: "7HCAAC" }, answer: examplePage(ticketExample) },
  get: { status: "ok", path: { id: 2 }, answer: ticketExample },
} satisfies Readonly<Record<string, Example>>;

export const searchExample = {
  status: "ok",
  query: { list: "1", search: "7HCAAC" },
  answer: examplePage(ticketExample),
} satisfies Example;

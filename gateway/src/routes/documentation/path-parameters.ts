interface PathParameter {
  readonly description: string;
  readonly schema: object;
  /** A value of the demo, if the route has none of its own. */
  readonly example: string | number;
}

const text = { type: "string" };
const number = { type: "integer", format: "int64", minimum: 1 };
const uuid = { type: "string", format: "uuid" };

const ofId = (description: string): PathParameter => ({ description, schema: number, example: 1 });
const ofUuid = (description: string): PathParameter => ({
  description,
  schema: uuid,
  example: "5f0c8a52-6b0e-4c7e-9d55-0e6f5f3a9c11",
});

const parameters: Readonly<Record<string, PathParameter>> = {
  organizer: { description: "Slug of the organizer.", schema: text, example: "demo" },
  event: { description: "Slug of the event.", schema: text, example: "conference" },
  list: ofId("Id of the check-in list."),
  lookup: {
    description: "The secret of the ticket as it was scanned, percent-encoded; or its id.",
    schema: text,
    example: "skf5nd68tj9svceenh72c7xt5nyzery4",
  },
  code: { description: "Code of the order; it may be in small letters.", schema: text, example: "WEVEDD" },
  position: ofId("Id of the ticket."),
  question: ofId("Id of the question."),
  device: ofId("Number of the device at its organizer."),
  key: { description: "Id of the API key.", schema: text, example: "c1d3baebebef5fc2" },
  session: ofUuid("Id of the link or the session."),
  identifier: { description: "Identifier of the shredder.", schema: text, example: "order_emails" },
  job: ofUuid("Id of the job, as the answer that started it has it."),
  export: ofUuid("Id of the export, as the answer that started it has it."),
  case: ofUuid("Id of the erasure, as the answer that started it has it."),
};

/** The resource of an `id`, by the preceding segment of the path. */
const things: Readonly<Record<string, string>> = {
  checkinlists: "check-in list",
  checkinlist: "check-in list",
  positions: "ticket",
  orderpositions: "ticket",
  checkins: "scan",
  alarms: "alarm",
  doubles: "double, which is that of its later scan",
  vouchers: "voucher",
  ticketlayouts: "ticket layout",
  ticketlayoutitems: "assignment",
  offlinesalesbatches: "batch",
  subevents: "date",
  categories: "category",
  items: "product",
  questions: "question",
  quotas: "quota",
};

/** Describes a path parameter by its name, and by the preceding segment. */
export function describePathParameter(name: string, path: string): PathParameter {
  if (name === "file") return describeFile(path);
  const found = name === "id" ? describeId(path) : parameters[name];
  if (found === undefined) throw new Error(`{${name}} of ${path} has no description`);
  return found;
}

function describeId(path: string): PathParameter | undefined {
  const [, segment = ""] = /([\w-]+)\/\{id\}/.exec(path) ?? [];
  const thing = things[segment];
  return thing === undefined ? undefined : ofId(`Id of the ${thing}.`);
}

function describeFile(path: string): PathParameter {
  return path.startsWith("/pub/")
    ? { description: "Name of the background.", schema: text, example: `${"0123456789".repeat(4)}.pdf` }
    : ofUuid("Id of the file, as the answer that started the job has it.");
}

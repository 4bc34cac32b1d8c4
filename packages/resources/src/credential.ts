import { arrayOf, boolean, id, needed, object, orUnread, slug, text } from "@tessera/schema/build";

const name = text({
  default: "",
  maxLength: 190,
  description: "What to find it again by.",
  examples: ["Entrance west"],
});

const scope = {
  all_events: boolean({
    default: false,
    description: "Good for all events of the organizer; `events` is ignored then.",
  }),
  events: arrayOf(slug(), {
    default: [],
    maxItems: 10_000,
    description: "Slugs of the events that it is good for.",
    examples: [["sampleconf"]],
  }),
};

/** What an API key may do. */
export const apiKey = object({
  name,
  permissions: arrayOf(text(), {
    default: [],
    maxItems: 1000,
    description: "Names of permissions, classic names included; `*` for all.",
    examples: [["event.orders:read", "event.orders:checkin"]],
  }),
  ...scope,
  active: needed(boolean({ default: true, description: "False: it was revoked." })),
});

const securityProfile = {
  default: "full",
  maxLength: 190,
  examples: ["full"],
  description:
    "What it may do: `full`, or a profile that opens part of the interface. An unknown name counts as `pretixscan`.",
} as const;

const softwareBrand = {
  default: "",
  maxLength: 190,
  description: "The software that it runs.",
  examples: ["Scanner"],
} as const;

/** What a device is and may do. */
export const device = object({
  name,
  gate: id({ nullable: true, default: null, description: "Id of the gate where it is used." }),
  security_profile: text(securityProfile),
  software_brand: text(softwareBrand),
  ...scope,
  revoked: needed(boolean({ default: false, description: "Its key is refused." })),
});

/** The same as it may be sent: null means the same as a missing field. */
export const sentDevice = object({
  ...device.properties,
  security_profile: orUnread(text({ ...securityProfile, nullable: true }), "pretixscan"),
  software_brand: text({ ...softwareBrand, nullable: true }),
});

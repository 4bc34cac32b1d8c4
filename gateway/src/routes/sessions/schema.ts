import { apiKey } from "@tessera/resources/credential";
import { arrayOf, boolean, choice, instant, integer, object, slug, text } from "@tessera/schema/build";
import { permissionNames } from "@tessera/values";
import { grantable, usualPermissions } from "../../access/read-grants.ts";
import { record } from "../../http/answers.ts";
import { bodyOf } from "../../http/route.ts";

const name = text({ blank: false, maxLength: 190, description: "What the person or the screen is called." });

/** The closed list is documented, not checked: the handler names the wrong element, and takes classic names. */
const permissions = arrayOf(text({ enum: permissionNames.filter((each) => each !== "*") }), {
  default: [...usualPermissions],
  maxItems: 100,
  description: "Names of permissions, classic names included; not `organizer.records:write`, and not all at once.",
  examples: [usualPermissions],
});

const { all_events, events } = apiKey.properties;

export const linkBody = bodyOf(
  {
    title: "SignInLinkBody",
    ...object(
      {
        name,
        permissions,
        all_events,
        events,
        valid_for: integer({
          default: 3600,
          minimum: 60,
          maximum: 604_800,
          description: "How many seconds the link can be opened.",
        }),
        session_for: integer({
          default: 43_200,
          minimum: 300,
          maximum: 2_592_000,
          description: "How many seconds the session lasts once it was.",
        }),
      },
      { required: ["name"] },
    ),
  },
  { missingBooleans: "absent" },
);

const id = text({ description: "The id of the link, and of the session that it becomes." });

export const linkShown = record("SignInLink", {
  id,
  link: text({ description: "What to open in a browser: once. Shown here and never again." }),
  expires: instant({ description: "Until when it can be opened." }),
});

const granted = {
  permissions: arrayOf(choice(grantable), { description: "Current names." }),
  all_events: boolean({ description: "Good for all events of the organizer; `events` is ignored then." }),
  events: arrayOf(slug(), { description: "Slugs of the events that it is good for." }),
};

export const sessionListed = record("ListedSession", {
  id,
  name: text({ description: "What the person or the screen is called." }),
  state: choice(["open", "in use", "ended", "revoked"], { description: "Open: the link was not opened yet." }),
  ...granted,
  created: instant({ description: "When the link was made, or when the person came by the provider of identities." }),
  began: instant({ nullable: true, description: "When the link was opened." }),
  expires: instant({ description: "When the session ends; before it begins, until when the link can be opened." }),
});

export const sessionBody = bodyOf(
  {
    title: "SessionBody",
    ...object(
      {
        link: text({ blank: false, maxLength: 190, description: "What stands in the link behind `#link=`." }),
        opening: text({
          minLength: 32,
          maxLength: 190,
          description:
            "A random value that the page draws and keeps to itself, such as a UUID: with it the same request can be sent again when its answer was lost.",
        }),
      },
      { required: ["link"] },
    ),
  },
  // Everybody may send it.
  { maxBytes: 64 * 1024 },
);

export const sessionShown = record("Session", {
  organizer: text({ description: "The slug of its organizer." }),
  name: text({ description: "What the person or the screen is called." }),
  ...granted,
  expires: instant({ description: "When it ends." }),
});

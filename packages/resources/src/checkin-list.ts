import { any, arrayOf, boolean, field, id, instant, integer, needed, object, text } from "@tessera/schema/build";

const persons = { nullable: true, default: null, minimum: 1, maximum: 10_000_000, examples: [500] } as const;

/** What an organizer sets on a check-in list: the body of the API and, with its id, the data of a record. */
export const checkinList = object(
  {
    name: text({ blank: false, maxLength: 190, description: "Internal name.", examples: ["Main entrance"] }),
    all_products: boolean({ default: true, description: "Covers all products; `limit_products` is ignored then." }),
    limit_products: arrayOf(id(), {
      default: [],
      maxItems: 10_000,
      description: "Ids of the products on the list.",
      examples: [[1]],
    }),
    subevent: id({ nullable: true, default: null, description: "Date of an event series; null: all dates." }),
    include_pending: boolean({ default: false, description: "Includes tickets of orders that are not paid yet." }),
    allow_multiple_entries: boolean({ default: false, description: "Repeated scans are stored without a warning." }),
    allow_entry_after_exit: boolean({ default: true, description: "A scan is valid when the one before was an exit." }),
    rules: any({
      nullable: false,
      default: {},
      description: "Custom check-in logic. Not a stable interface.",
      examples: [{}],
    }),
    exit_all_at: instant({
      nullable: true,
      default: null,
      description: "Time of an automatic exit; moves on by a day each time.",
    }),
    addon_match: boolean({
      default: false,
      description: "A ticket can be redeemed by scanning its parent, where that is unambiguous.",
    }),
    ignore_in_statistics: boolean({ default: false, description: "Left out of most reporting." }),
    consider_tickets_used: boolean({
      default: true,
      description: "A scan on this list counts as use of the ticket elsewhere.",
    }),
    soft_limit: integer({
      ...persons,
      description: "From so many persons inside on, the live board warns; null: it does not.",
    }),
    hard_limit: integer({
      ...persons,
      description: "With so many persons inside, further entries are refused unless forced; null: there is no limit.",
    }),
    takes_from: arrayOf(id(), {
      default: [],
      maxItems: 100,
      description: "Ids of lists of the event that a visitor leaves by entering here.",
      examples: [[2]],
    }),
  },
  { required: ["name"] },
);

const { limit_products, subevent, rules } = checkinList.properties;

/** The data of a record. */
export const checkinListRecord = object(
  {
    id: field(id(), "Its id.", 1),
    ...checkinList.properties,
    name: text({ default: "", maxLength: 190, description: "Internal name.", examples: ["Main entrance"] }),
    all_products: boolean({
      default: true,
      description:
        "Covers all products; `limit_products` is ignored then. Where it cannot be read, that counts if it names any.",
    }),
    limit_products: needed(limit_products),
    subevent: needed(subevent),
    rules: needed(rules),
  },
  { required: ["id"] },
);

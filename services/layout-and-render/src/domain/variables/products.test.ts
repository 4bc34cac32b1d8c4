import { describe, expect, it } from "vitest";
import { item, position, ticket } from "../../testing/print-ticket.ts";
import { textOf, textsOf } from "../../testing/printed-texts.ts";
import type { Position } from "../ticket.ts";

describe("products", () => {
  const category = { en: "Passes", de: "Pässe" };
  const pass = item(2, "Pass", { description: { en: "All days" }, category });
  const reduced = { id: 5, name: { en: "Reduced", de: "Ermäßigt" }, description: { en: "Students" }, metaData: {} };

  it("[L12.1] have names and descriptions in the language that fits best", () => {
    const printed = ticket({ order: { locale: "de" }, position: position({ item: pass, variation: reduced }) });
    expect(textsOf(printed)).toMatchObject({
      item: "Pass",
      variation: "Ermäßigt",
      item_description: "All days",
      itemvar: "Pass - Ermäßigt",
      itemvar_description: "Students",
      item_category: "Pässe",
    });
  });

  it("[L12.1] may have no variation, description or category", () => {
    expect(textsOf(ticket({ position: position({ item: pass }) }))).toMatchObject({
      variation: "",
      itemvar: "Pass",
      itemvar_description: "All days",
    });
    expect(textsOf(ticket())).toMatchObject({ item_description: "", itemvar_description: "", item_category: "" });
    const undescribed = { ...reduced, description: null };
    const printed = ticket({ position: position({ item: pass, variation: undescribed }) });
    expect(textOf("itemvar_description", printed)).toBe("");
  });

  const shirt = item(3, "Shirt");
  const lunch = item(4, "Lunch");
  const addon = (rest: Partial<Position>) => position({ price: "5.10", ...rest });

  it("[L12.2] have prices, alone and with what was added", () => {
    const bundles = [{ item: 3, variation: null, count: 1 }];
    const printed = ticket({
      position: position({ price: "0.20", item: item(1, "Ticket", { bundles }) }),
      addons: [addon({ item: shirt }), addon({ item: shirt }), addon({ item: lunch, price: "0.10" })],
    });
    expect(textsOf(printed)).toMatchObject({
      price: "€0.20",
      price_with_addons: "€10.50",
      price_with_bundled: "€5.30",
    });
    expect(textsOf(ticket())).toMatchObject({ price_with_addons: "€23.00", price_with_bundled: "€23.00" });
    const free = ticket({ position: position({ price: "-5.00" }), addons: [addon({ price: "5.00" })] });
    expect(textOf("price_with_addons", free)).toBe("€0.00");
  });

  it("[L12.3] list what was added, alike ones in one line", () => {
    const printed = ticket({
      addons: [
        addon({ id: 2, item: shirt, variation: reduced }),
        addon({ id: 3, item: lunch }),
        addon({ id: 4, item: shirt }),
        addon({ id: 5, item: lunch }),
      ],
      // The ticket is not an add-on of itself, and an exit is a scan.
      scans: new Map([
        [1, 1],
        [3, null],
      ]),
    });
    expect(textsOf(printed)).toMatchObject({ addons: "Shirt - Reduced\n2x Lunch\nShirt", checked_in_addons: "Lunch" });
    expect(textsOf(ticket())).toMatchObject({ addons: "", checked_in_addons: "" });
  });
});

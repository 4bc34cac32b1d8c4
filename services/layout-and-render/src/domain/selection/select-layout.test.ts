import { describe, expect, it } from "vitest";
import { type LayoutChoice, selectLayout } from "./select-layout.ts";

const layout = (id: number) => ({ id, elements: "[]", background: null });
const choice: LayoutChoice = {
  layouts: new Map([1, 2, 3, 4].map((id) => [id, layout(id)])),
  defaultLayout: 1,
  assigned: [
    { layout: 2, item: 10, salesChannel: "web" },
    { layout: 3, item: 10, salesChannel: "boxoffice" },
    { layout: 2, item: 20, salesChannel: "web" },
    { layout: 4, item: 20, salesChannel: "web" },
  ],
};

describe("[L9.1] a ticket has the layout", () => {
  it.each([
    ["that is named instead", { item: 10, salesChannel: "web", layout: 4 }, 4],
    ["that is assigned to its product on its channel", { item: 10, salesChannel: "boxoffice", layout: undefined }, 3],
    ["of the channel web, if its own has none", { item: 10, salesChannel: "resellers", layout: undefined }, 2],
    ["that was assigned last", { item: 20, salesChannel: "web", layout: undefined }, 4],
    ["that is the default, if none is assigned", { item: 30, salesChannel: "web", layout: undefined }, 1],
  ])("%s", (_name, ticket, expected) => {
    expect(selectLayout(ticket, choice)?.id).toBe(expected);
  });

  it("that is built in, if there is no default", () => {
    const ticket = { item: 30, salesChannel: "web", layout: undefined };
    expect(selectLayout(ticket, { ...choice, defaultLayout: null })).toBeNull();
  });
});

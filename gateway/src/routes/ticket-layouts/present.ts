import type { Assignment, Layout } from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import { JsonText } from "../../http/json-text.ts";
import type { Incoming } from "../../http/route.ts";
import { backgroundUrl } from "../backgrounds/routes.ts";

export function presentLayout(layout: Layout | undefined, { url, organizer, event }: Incoming) {
  if (layout === undefined) throw new Error("layout-and-render answered without a layout");
  const { id, name, isDefault, elements, background, itemAssignments } = layout;
  return {
    id,
    name,
    default: isDefault,
    layout: new JsonText(elements),
    background: background === undefined ? null : backgroundUrl(url, { organizer, event, name: background }),
    item_assignments: itemAssignments.map(({ item, salesChannel }) => ({ sales_channel: salesChannel, item })),
  };
}

export function presentAssignment(assignment: Assignment | undefined) {
  if (assignment === undefined) throw new Error("layout-and-render answered without an assignment");
  const { id, layout, item, salesChannel } = assignment;
  return { id, layout, item, sales_channel: salesChannel };
}

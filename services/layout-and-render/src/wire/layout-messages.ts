import type {
  Assignment as AssignmentOnWire,
  Layout as LayoutOnWire,
} from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import type { Assignment, Layout } from "../domain/selection/layout.ts";

/** A layout with its own ones among these assignments. */
export function toWireLayout(layout: Layout, assignments: readonly Assignment[]): LayoutOnWire {
  const { id, name, isDefault, elements, background } = layout;
  const own = assignments.filter((assignment) => assignment.layout === id);
  return {
    ...{ id, name, isDefault, elements },
    background: background?.name,
    itemAssignments: own.map(({ item, salesChannel }) => ({ item, salesChannel })),
  };
}

export function toWireAssignment({ id, layout, item, salesChannel }: Assignment): AssignmentOnWire {
  return { id, layout, item, salesChannel };
}

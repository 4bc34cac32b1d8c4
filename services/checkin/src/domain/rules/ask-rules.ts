import type { RuleNode, Rules } from "./read-rules.ts";

/** How many values rules consist of: each is evaluated for every ticket. */
export function countValues({ root }: Rules): number {
  return nodesOf(root).length;
}

/** Whether rules ask for the scans of a ticket; if not, all tickets of one product, variation and date are judged alike. */
export function asksForScans({ root }: Rules): boolean {
  return nodesOf(root).some((node) => node.kind === "count" || (node.kind === "variable" && !ofTicket.has(node.name)));
}

const ofTicket: ReadonlySet<string> = new Set(["product", "variation", "gate", "now", "now_isoweekday"]);

function nodesOf(node: RuleNode): readonly RuleNode[] {
  return node.kind === "operation" ? [node, ...node.operands.flatMap(nodesOf)] : [node];
}

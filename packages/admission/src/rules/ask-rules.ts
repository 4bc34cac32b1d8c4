import type { RuleNode, Rules } from "./read-rules.ts";

/** Counts the values of rules: each of them is evaluated for every ticket. */
export function countValues({ root }: Rules): number {
  return nodesOf(root).length;
}

/** Whether rules ask about scans; if not, tickets of equal product, variation and date are judged alike. */
export function asksForScans({ root }: Rules): boolean {
  return nodesOf(root).some((node) => node.kind === "count" || (node.kind === "variable" && !ofTicket.has(node.name)));
}

const ofTicket: ReadonlySet<string> = new Set(["product", "variation", "gate", "now", "now_isoweekday"]);

function nodesOf(node: RuleNode): readonly RuleNode[] {
  return node.kind === "operation" ? [node, ...node.operands.flatMap(nodesOf)] : [node];
}

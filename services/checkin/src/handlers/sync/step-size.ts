/** Enough that a step costs more than its statements, and few enough that no other request waits long for it. */
export const mostEntities = 1000;

/** Items, questions, dates and lists may be large. */
export const mostDocuments = 50;

const documents: ReadonlySet<string> = new Set(["subevent", "item", "question", "list"]);

export function isDocument(kind: string): boolean {
  return documents.has(kind);
}

/** How many entities of a kind a statement reads. */
export function mostOf(kind: string): number {
  return isDocument(kind) ? mostDocuments : mostEntities;
}

import { create } from "content-disposition";

export const pdf = "application/pdf";

/** A browser must not run an uploaded file as a page of this host. */
export const neverAPage = { "Content-Security-Policy": "default-src 'none'; sandbox" } as const;

/** A file that browsers save under its name, and never show inside this host. */
export const asAttachment = (name: string) => ({ "Content-Disposition": create(name), ...neverAPage });

/** Reports how many things could not be printed as the layout demands. */
export const warned = (count: number) => ({ "X-Tessera-Warnings": String(count) });

/** The same for the OpenAPI document. */
export const warnsOfPrints =
  "`X-Tessera-Warnings` says how many things could not be printed as the layout wants them; of a job up to 200 are counted.";

export const fileShown = { description: "The file.", schema: { type: "string", format: "binary" } } as const;

import { readFile } from "node:fs/promises";
import { ifNoneMatch, tagged } from "../../http/answers.ts";
import { type Fixed, fix, sendFixed } from "../../http/fixed.ts";
import { declare, type Incoming } from "../../http/route.ts";
import { type DemoKeys, docsPage, docsPolicy, favicon, homePage, homePolicy, startScript } from "./page.ts";

const json = "application/json; charset=utf-8";
const html = "text/html; charset=utf-8";
const javascript = "text/javascript; charset=utf-8";

const publicAccess = { kind: "public" } as const;

const page = {
  access: publicAccess,
  isPage: true,
  answers: {
    ok: { description: "A page, or a part of it.", schema: { type: "string" } },
    notModified: { description: "It is the one that `If-None-Match` names.", headers: tagged },
  },
} as const;

export interface DocumentationTargets {
  /** Called once, when the document is first requested. */
  readonly document: () => object;
  readonly version: string;
  readonly demoKeys: DemoKeys;
}

/** The OpenAPI document, and pages that show it. */
export function documentationRoutes({ document, version, demoKeys }: DocumentationTargets) {
  const written = once(() => fix(json, JSON.stringify(document())));
  const home = once(() => fix(html, homePage(version)));
  const docs = once(() => fix(html, docsPage));
  const start = once(() => fix(javascript, startScript(demoKeys)));
  const viewer = once(async () => fix(javascript, await readViewer()));
  const icon = once(() => fix("image/svg+xml", favicon));

  return {
    openApi: declare({
      name: "getOpenApi",
      example: { status: "ok" },
      summary: "Describes this interface as OpenAPI 3.1",
      access: publicAccess,
      headers: ifNoneMatch,
      answers: {
        ok: { description: "The document.", schema: { type: "object" }, headers: tagged },
        notModified: page.answers.notModified,
      },
      handle: async (request) => sendFixed(await written(), request),
    }),

    home: declare({
      ...page,
      name: "getHomePage",
      summary: "Leads to the documentation",
      produces: "text/html",
      handle: async (request) => sendFixed(await home(), request, framed(homePolicy)),
    }),

    page: declare({
      ...page,
      name: "getDocsPage",
      summary: "Shows this interface to people",
      produces: "text/html",
      handle: async (request) => sendFixed(await docs(), request, framed(docsPolicy)),
    }),

    start: declare({
      ...page,
      name: "getDocsStart",
      summary: "Starts the page's viewer",
      produces: "text/javascript",
      handle: async (request) => sendFixed(await start(), request),
    }),

    viewer: declare({
      ...page,
      name: "getDocsViewer",
      summary: "The page's viewer",
      produces: "text/javascript",
      handle: async (request: Incoming) => sendFixed(await viewer(), request),
    }),

    icon: declare({
      ...page,
      name: "getFavicon",
      summary: "The mark of all pages",
      produces: "image/svg+xml",
      handle: async (request) => sendFixed(await icon(), request),
    }),
  };
}

function framed(policy: string): Readonly<Record<string, string>> {
  return { "Content-Security-Policy": policy, "X-Frame-Options": "DENY" };
}

/** Memoizes a promise; a failure is retried. */
function once(make: () => Promise<Fixed>): () => Promise<Fixed> {
  let made: Promise<Fixed> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** Reads the viewer's bundle from its package: four megabytes. */
function readViewer(): Promise<Buffer> {
  return readFile(new URL("browser/standalone.js", import.meta.resolve("@scalar/api-reference")));
}

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { notFound } from "../../answers.ts";
import { declare, type Reply } from "../../route.ts";
import { docsPage, startScript } from "./page.ts";

const publicAccess = { kind: "public" } as const;

/** Files change with releases only; within an hour nobody need ask again. */
const cached = { "Cache-Control": "public, max-age=3600" };

/** The document of the API, and a page that shows it. */
export function documentationRoutes(document: () => object) {
  let viewer: Promise<Viewer> | undefined;

  return {
    openApi: declare({
      name: "getOpenApi",
      summary: "Describes this interface as OpenAPI 3.1",
      access: publicAccess,
      answers: { 200: { description: "The document.", schema: { type: "object" } } },
      handle: async () => ({ status: 200, body: document(), headers: cached }),
    }),

    page: declare({
      name: "getDocsPage",
      summary: "Shows this interface to people",
      access: publicAccess,
      produces: "text/html",
      answers: { 200: { description: "A page.", schema: { type: "string" } } },
      handle: async () => ({
        status: 200,
        type: "text/html; charset=utf-8",
        body: docsPage,
        headers: { "Content-Security-Policy": pagePolicy, "X-Frame-Options": "DENY" },
      }),
    }),

    file: declare({
      name: "getDocsFile",
      summary: "A script of the page",
      access: publicAccess,
      produces: "text/javascript",
      answers: {
        200: { description: "A script.", schema: { type: "string" } },
        404: notFound("There is no such file."),
      },
      async handle(request): Promise<Reply> {
        const type = "text/javascript; charset=utf-8";
        if (request.param("file") === "start.js") return { status: 200, type, body: startScript, headers: cached };
        viewer ??= readViewer();
        const { plain, zipped } = await viewer.catch((error: unknown) => {
          viewer = undefined;
          throw error;
        });
        return /\bgzip\b/.test(request.header("Accept-Encoding"))
          ? {
              status: 200,
              type,
              body: zipped,
              headers: { ...cached, "Content-Encoding": "gzip", Vary: "Accept-Encoding" },
            }
          : { status: 200, type, body: plain, headers: { ...cached, Vary: "Accept-Encoding" } };
      },
    }),
  };
}

/** Everything comes from here; nothing may be fetched from or sent to another host. The viewer sets styles from its script. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

interface Viewer {
  readonly plain: Buffer;
  readonly zipped: Buffer;
}

/** Reads the viewer's own bundle out of its package; four megabytes that are worth compressing once. */
async function readViewer(): Promise<Viewer> {
  const main = createRequire(import.meta.url).resolve("@scalar/api-reference");
  const plain = await readFile(new URL("browser/standalone.js", `file://${main}`));
  return { plain, zipped: await promisify(gzip)(plain) };
}

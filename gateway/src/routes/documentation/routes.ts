import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { declare, type Incoming, type Reply } from "../../http/route.ts";
import { docsPage, startScript } from "./page.ts";

const publicAccess = { kind: "public" } as const;

/** Files change with releases only, so clients may cache them for an hour. */
const cached = { "Cache-Control": "public, max-age=3600" };

const javascript = "text/javascript; charset=utf-8";
const json = "application/json; charset=utf-8";

const script = {
  access: publicAccess,
  produces: "text/javascript",
  answers: { 200: { description: "A script.", schema: { type: "string" } } },
} as const;

/** The document of the API, and a page that shows it. `document` is written once, when it is first asked for. */
export function documentationRoutes(document: () => object) {
  let written: Fixed | undefined;
  let viewer: Promise<Viewer> | undefined;

  return {
    openApi: declare({
      name: "getOpenApi",
      summary: "Describes this interface as OpenAPI 3.1",
      access: publicAccess,
      answers: {
        200: { description: "The document.", schema: { type: "object" } },
        304: { description: "It is the one that `If-None-Match` names." },
      },
      async handle(request) {
        written ??= fix(Buffer.from(JSON.stringify(document())));
        return sendFixed(written, request, json);
      },
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

    start: declare({
      name: "getDocsStart",
      summary: "Starts the page's viewer",
      ...script,
      handle: async () => ({ status: 200, type: javascript, body: startScript, headers: cached }),
    }),

    viewer: declare({
      name: "getDocsViewer",
      summary: "The page's viewer",
      ...script,
      async handle(request): Promise<Reply> {
        viewer ??= readViewer();
        const { plain, zipped } = await viewer.catch((error: unknown) => {
          viewer = undefined;
          throw error;
        });
        const headers = { ...cached, Vary: "Accept-Encoding" };
        return /\bgzip\b/.test(request.header("Accept-Encoding"))
          ? { status: 200, type: javascript, body: zipped, headers: { ...headers, "Content-Encoding": "gzip" } }
          : { status: 200, type: javascript, body: plain, headers };
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

/** Bytes that stay the same as long as the process runs. */
interface Fixed {
  readonly body: Buffer;
  readonly tag: string;
}

function fix(body: Buffer): Fixed {
  return { body, tag: `"${hash("sha256", body, "base64url")}"` };
}

/** Sends the bytes, unless the client has them. */
function sendFixed({ body, tag }: Fixed, request: Incoming, type: string): Reply {
  const headers = { ...cached, ETag: tag };
  const known = request.header("If-None-Match").split(",");
  const isKnown = known.some((each) => each.trim().replace(/^W\//, "") === tag);
  return isKnown ? { status: 304, headers } : { status: 200, type, body, headers };
}

interface Viewer {
  readonly plain: Buffer;
  readonly zipped: Buffer;
}

/** Reads the viewer's own bundle out of its package; four megabytes that are worth compressing once. */
async function readViewer(): Promise<Viewer> {
  const plain = await readFile(new URL("browser/standalone.js", import.meta.resolve("@scalar/api-reference")));
  return { plain, zipped: await promisify(gzip)(plain) };
}

import { readdirSync, readFileSync } from "node:fs";
import { fault } from "../../faults.ts";
import { detail, tagged } from "../../http/answers.ts";
import { type Fixed, sendFixed, tagOf } from "../../http/fixed.ts";
import { declare, type Incoming } from "../../http/route.ts";

/** The endings of compressed files, by their encoding. */
const endings: readonly (readonly [encoding: string, ending: string])[] = [
  ["br", "br"],
  ["gzip", "gz"],
];

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  wasm: "application/wasm",
  webmanifest: "application/manifest+json; charset=utf-8",
  txt: "text/plain; charset=utf-8",
};

/** Everything comes from this host, and no script or style stands in the page itself. WebAssembly decodes codes. */
const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const pageHeaders = {
  "Content-Security-Policy": policy,
  "Permissions-Policy": "camera=(self), microphone=(), geolocation=()",
  "Cross-Origin-Opener-Policy": "same-origin",
  "X-Frame-Options": "DENY",
};

/** The page is the same in all languages: it has its words with it. */
const vary = { Vary: "Accept-Encoding" };

const access = { kind: "public" } as const;

const answers = {
  200: { description: "A page, or a part of it.", schema: { type: "string" }, headers: tagged },
  304: { description: "It is the one that `If-None-Match` names.", headers: tagged },
} as const;

/** The scanner page and its files. Their names are those that the build has written: no other path reaches a file. */
export function scannerPageRoutes(folder: URL = builtPage()) {
  const files = readFiles(folder);
  const [page, worker] = ["index.html", "service-worker.js"].map((name) => files.get(name));
  if (page === undefined || worker === undefined) throw notBuilt(folder);

  return {
    page: declare({
      access,
      answers,
      isPage: true,
      name: "getScannerPage",
      summary: "Scans tickets with the camera of a phone",
      produces: "text/html",
      handle: async (request) => sendFixed(page, request, { ...pageHeaders, ...vary }),
    }),

    worker: declare({
      access,
      answers,
      isPage: true,
      name: "getScannerPageWorker",
      summary: "Starts the scanner page without a network",
      produces: "text/javascript",
      // Browsers ask for it again at each visit: what it names is what they keep.
      handle: async (request) => sendFixed(worker, request, { "Content-Security-Policy": policy, ...vary }),
    }),

    asset: declare({
      access,
      answers: { ...answers, 404: { description: "The page has no such file.", schema: detail } },
      isPage: true,
      name: "getScannerPageFile",
      summary: "A part of the scanner page",
      produces: Object.values(types).map((type) => type.split(";")[0] ?? type),
      async handle(request: Incoming) {
        const file = files.get(`assets/${request.param("file")}`);
        if (file === undefined) throw fault("not_found", "The page has no such file.");
        // Its name has the hash of its content. Workers have the policy of their own file.
        const headers = { "Content-Security-Policy": policy, "Cache-Control": "public, max-age=31536000, immutable" };
        return sendFixed(file, request, { ...headers, ...vary });
      },
    }),
  };
}

/** Where the build has written the page. */
function builtPage(): URL {
  return new URL("dist/scan/", import.meta.resolve("@tessera/pages/package.json"));
}

function readFiles(folder: URL): ReadonlyMap<string, Fixed> {
  const names = list(folder);
  const files = new Map<string, Fixed>();
  for (const name of names) {
    const type = types[name.split(".").at(-1) ?? ""];
    if (type === undefined) continue;
    const plain = readFileSync(new URL(name, folder));
    const compressed = endings
      .filter(([, ending]) => names.includes(`${name}.${ending}`))
      .map(([encoding, ending]) => ({ encoding, body: readFileSync(new URL(`${name}.${ending}`, folder)) }));
    files.set(name, { type, tag: tagOf(plain), plain, compressed });
  }
  return files;
}

function list(folder: URL): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch (error) {
    throw notBuilt(folder, error);
  }
}

function notBuilt({ pathname }: URL, cause?: unknown): Error {
  return new Error(`the scanner page is not built: ${pathname} lacks it; \`node scripts/prepare.mjs\` builds it`, {
    cause,
  });
}

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

/** Everything comes from this host, and no script or style stands in the page itself. */
const policy = {
  "default-src": "'none'",
  "script-src": "'self'",
  "style-src": "'self'",
  "img-src": "'self'",
  "connect-src": "'self'",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
};

/** The camera is read in a worker, where WebAssembly decodes codes. */
const policyOfScanner = {
  ...policy,
  "script-src": "'self' 'wasm-unsafe-eval'",
  "img-src": "'self' data: blob:",
  "media-src": "'self' blob:",
  "worker-src": "'self'",
  "manifest-src": "'self'",
};

/** The page is the same in all languages: it has its words with it. */
const vary = { Vary: "Accept-Encoding" };

const access = { kind: "public" } as const;

const answers = {
  ok: { description: "A page, or a part of it.", schema: { type: "string" }, headers: tagged },
  notModified: { description: "It is the one that `If-None-Match` names.", headers: tagged },
} as const;

/** The scanner page and its files. */
export function scannerPageRoutes(folder: URL = builtPage("scan")) {
  const files = readFiles(folder);
  const headers = headersOf(policyOfScanner, "camera=(self), microphone=(), geolocation=()");
  const worker = requireFile(files, "service-worker.js", folder);
  return {
    page: declare({
      ...pageOf(requireFile(files, "index.html", folder), headers),
      name: "getScannerPage",
      summary: "Scans tickets with the camera of a phone",
    }),

    worker: declare({
      access,
      answers,
      isPage: true,
      name: "getScannerPageWorker",
      summary: "Starts the scanner page without a network",
      produces: "text/javascript",
      // Browsers ask for it again at each visit: what it names is what they keep.
      handle: async (request) => sendFixed(worker, request, { ...policyAlone(headers), ...vary }),
    }),

    asset: declare({
      ...assetOf(files, headers),
      name: "getScannerPageFile",
      summary: "A part of the scanner page",
    }),
  };
}

/** The live board and its files. */
export function boardRoutes(folder: URL = builtPage("board")) {
  const files = readFiles(folder);
  const headers = headersOf(policy, "camera=(), microphone=(), geolocation=()");
  return {
    page: declare({
      ...pageOf(requireFile(files, "index.html", folder), headers),
      name: "getBoard",
      summary: "Shows how the gates of an event run",
    }),

    asset: declare({ ...assetOf(files, headers), name: "getBoardFile", summary: "A part of the live board" }),
  };
}

type Headers = Readonly<Record<string, string>>;
type Files = ReadonlyMap<string, Fixed>;

function headersOf(directives: Headers, permissions: string): Headers {
  return {
    "Content-Security-Policy": Object.entries(directives)
      .map(([name, value]) => `${name} ${value}`)
      .join("; "),
    "Permissions-Policy": permissions,
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
  };
}

/** Workers have the policy of their own file. */
function policyAlone(headers: Headers): Headers {
  return { "Content-Security-Policy": headers["Content-Security-Policy"] ?? "" };
}

function pageOf(page: Fixed, headers: Headers) {
  return {
    ...({ access, answers, isPage: true, produces: "text/html" } as const),
    handle: async (request: Incoming) => sendFixed(page, request, { ...headers, ...vary }),
  } as const;
}

/** Names of files are those that the build has written: no other path reaches one. */
function assetOf(files: Files, headers: Headers) {
  return {
    access,
    answers: { ...answers, notFound: { description: "The page has no such file.", schema: detail } },
    isPage: true as const,
    produces: Object.values(types).map((type) => type.split(";")[0] ?? type),
    async handle(request: Incoming) {
      const file = files.get(`assets/${request.param("file")}`);
      if (file === undefined) throw fault("not_found", "The page has no such file.");
      // Its name has the hash of its content.
      const forever = { "Cache-Control": "public, max-age=31536000, immutable" };
      return sendFixed(file, request, { ...policyAlone(headers), ...forever, ...vary });
    },
  };
}

/** Where the build has written a page. */
function builtPage(page: string): URL {
  return new URL(`dist/${page}/`, import.meta.resolve("@tessera/pages/package.json"));
}

function requireFile(files: Files, name: string, folder: URL): Fixed {
  const file = files.get(name);
  if (file === undefined) throw notBuilt(folder);
  return file;
}

function readFiles(folder: URL): Files {
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
  return new Error(`the page in ${pathname} is not built: \`node scripts/prepare.mjs\` builds it`, { cause });
}

/** Starts the page without a network: keeps its files, and answers for the server. The build writes their names. */
declare const __FILES__: readonly string[];
declare const __VERSION__: string;

interface Waiting extends Event {
  waitUntil(done: Promise<unknown>): void;
}

interface Fetch extends Event {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

/** What of a service worker is used here; its types and those of pages do not go together. */
interface Worker {
  addEventListener(name: "install" | "activate", listen: (event: Waiting) => void): void;
  addEventListener(name: "fetch", listen: (event: Fetch) => void): void;
  addEventListener(name: "message", listen: (event: MessageEvent) => void): void;
  skipWaiting(): Promise<void>;
  readonly clients: { claim(): Promise<void> };
  readonly registration: { readonly scope: string };
}

const worker = globalThis as unknown as Worker;
const files = __FILES__;
const prefix = "tessera-scanner-";
const name = `${prefix}${__VERSION__}`;

worker.addEventListener("install", (event) => event.waitUntil(keepFiles()));
worker.addEventListener("activate", (event) => event.waitUntil(dropOthers()));
worker.addEventListener("message", ({ data }) => {
  // The page says when no scan is under way.
  if (data === "use") void worker.skipWaiting();
});
worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { scope } = worker.registration;
  const address = request.url.replace(/[?#].*/s, "");
  const path = address.slice(scope.length);
  if (request.method === "GET" && address.startsWith(scope) && (path === "" || files.includes(path)))
    event.respondWith(answer(request, path));
});

async function keepFiles(): Promise<void> {
  const cache = await caches.open(name);
  // The browser may have an old page in its own cache.
  await cache.addAll(["./", ...files].map((file) => new Request(file, { cache: "reload" })));
}

async function dropOthers(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(
    names.filter((each) => each.startsWith(prefix) && each !== name).map((each) => caches.delete(each)),
  );
  await worker.clients.claim();
}

async function answer(request: Request, path: string): Promise<Response> {
  const cache = await caches.open(name);
  return (await cache.match(path === "" ? "./" : path)) ?? fetch(request);
}

export {};

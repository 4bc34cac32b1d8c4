/** How long a page waits for its newer version before it starts as it is. */
const takeOverMs = 3000;

/** Has the browser keep this page, so that it starts without a network. Browsers do so on https:// and on localhost. */
export async function keepPage(): Promise<void> {
  await navigator.serviceWorker?.register("./service-worker.js", { updateViaCache: "none" }).catch(() => undefined);
  // What is stored here is not to be given up when the phone is short of space.
  await navigator.storage?.persist?.().catch(() => false);
}

/** Changes to a newer version of this page, if one has arrived. True: the page loads again. */
export async function takeNewVersion(): Promise<boolean> {
  const registration = await navigator.serviceWorker?.getRegistration().catch(() => undefined);
  const waiting = registration?.waiting;
  if (waiting === undefined || waiting === null) return false;
  const hasTakenOver = new Promise<boolean>((resolve) => {
    navigator.serviceWorker.addEventListener("controllerchange", () => resolve(true), { once: true });
    setTimeout(() => resolve(false), takeOverMs);
  });
  waiting.postMessage("use");
  if (!(await hasTakenOver)) return false;
  location.reload();
  return true;
}

/** Looks for a newer version while the page is hidden, and changes to it where nothing is under way. */
export function renewWhileHidden(isFree: () => boolean): void {
  document.addEventListener("visibilitychange", () => void renew(isFree));
}

async function renew(isFree: () => boolean): Promise<void> {
  if (document.visibilityState !== "hidden") return;
  const registration = await navigator.serviceWorker?.getRegistration().catch(() => undefined);
  await registration?.update().catch(() => {});
  if (document.visibilityState === "hidden" && isFree()) await takeNewVersion();
}

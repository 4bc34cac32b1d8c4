import { askServer } from "../server/ask-server.ts";
import { keepDevice, within } from "../storage.ts";
import type { KeptDevice } from "./kept-device.ts";

export type SetUp =
  | { readonly kind: "done"; readonly device: KeptDevice }
  | { readonly kind: "used" | "offline" | "busy" | "storage" };

/** From this version on lists are named by their ids alone. */
const versionOfListIds = 40_120_001_001;

/** Takes the code of a set-up out of the address, so that it is in no history and no picture of the screen. */
export function takeCodeFromAddress(): string | undefined {
  const code = /^#setup=([\w-]+)$/.exec(location.hash)?.[1];
  if (location.hash !== "") history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/** Exchanges a code for the token of a device, once, and keeps it. */
export async function setUp(code: string): Promise<SetUp> {
  // The code is used up by the exchange: what comes afterwards must be able to store its result.
  if (!(await canStore())) return { kind: "storage" };
  const [, browser = "", version = ""] = /(Firefox|Edg|Chrome|Safari)\/([\d.]+)/.exec(navigator.userAgent) ?? [];
  const body = {
    token: code,
    ...{ hardware_brand: "Browser", hardware_model: browser || "unknown", os_name: navigator.platform || "unknown" },
    ...{ os_version: version, software_brand: "Tessera scanner page", software_version: "1" },
  };
  const initialized = await askServer("device/initialize", { method: "POST", body, timeoutMs: 15_000 });
  if (initialized.kind === "offline" || initialized.kind === "busy") return { kind: initialized.kind };
  if (initialized.kind !== "answer" || initialized.status !== 200) return { kind: "used" };
  const shown = initialized.body as {
    readonly api_token: string;
    readonly organizer: string;
    readonly device_id: number;
    readonly name: string;
    readonly security_profile: string;
    readonly gate: { readonly id: number; readonly name: string } | null;
  };
  const device: KeptDevice = {
    token: shown.api_token,
    organizer: shown.organizer,
    number: shown.device_id,
    name: shown.name,
    profile: shown.security_profile,
    gate: shown.gate?.name ?? null,
    gateId: shown.gate?.id ?? null,
    hasListIds: false,
    chosen: null,
  };
  await keepDevice(device);
  const informed = await refresh(device);
  return { kind: "done", device: informed ?? device };
}

/** Asks what the server knows of the device by now: its gate and profile may have changed. Undefined: no answer. */
export async function refresh(device: KeptDevice): Promise<KeptDevice | undefined> {
  const { token } = device;
  const answer = await askServer("device/info", { token });
  if (answer.kind !== "answer" || answer.status !== 200) return undefined;
  const { device: shown, server } = answer.body as {
    readonly device: {
      readonly name: string;
      readonly security_profile: string;
      readonly gate: { readonly id: number; readonly name: string } | null;
    };
    readonly server: { readonly version: { readonly pretix_numeric: number } };
  };
  const known: KeptDevice = {
    ...device,
    name: shown.name,
    profile: shown.security_profile,
    gate: shown.gate?.name ?? null,
    gateId: shown.gate?.id ?? null,
    hasListIds: server.version.pretix_numeric >= versionOfListIds,
  };
  await keepDevice(known).catch(() => {});
  return known;
}

const longestMs = 8000;

async function canStore(): Promise<boolean> {
  try {
    const probe = indexedDB.open("tessera-scanner-probe");
    const opens = new Promise((resolve, reject) => {
      probe.addEventListener("success", resolve);
      probe.addEventListener("error", reject);
      probe.addEventListener("blocked", reject);
    });
    await within(opens, longestMs);
    probe.result.close();
    indexedDB.deleteDatabase("tessera-scanner-probe");
    return true;
  } catch {
    return false;
  }
}

import { told } from "./ask-server.ts";

interface Battery extends EventTarget {
  /** From 0 to 1. */
  readonly level: number;
}

/** Tells the server the battery of this device, where the browser says it. */
export async function watchBattery(): Promise<void> {
  const { getBattery } = navigator as { readonly getBattery?: () => Promise<Battery> };
  const battery = await getBattery?.call(navigator).catch(() => undefined);
  const note = () => {
    if (battery !== undefined) told.battery = Math.round(battery.level * 100);
  };
  note();
  battery?.addEventListener("levelchange", note);
}

import { mapInSlices } from "@tessera/kit/waiting/in-slices";

/** Serializes a long list as JSON in slices, so that it does not block the event loop. */
export async function writeList<T>(items: readonly T[], present: (item: T) => unknown): Promise<Buffer> {
  const texts = await mapInSlices(items, (item) => JSON.stringify(present(item)));
  return Buffer.from(`[${texts.join(",")}]`);
}

import { mapInSlices } from "@tessera/kit/waiting/in-slices";

/** Writes a long list as JSON, in slices, so that it delays no other request. */
export async function writeList<T>(items: readonly T[], present: (item: T) => unknown): Promise<Buffer> {
  const texts = await mapInSlices(items, (item) => JSON.stringify(present(item)));
  return Buffer.from(`[${texts.join(",")}]`);
}

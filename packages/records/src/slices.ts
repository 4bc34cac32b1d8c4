import { inSlices } from "@tessera/kit/waiting/in-slices";

/** Work that yields where the event loop may run something else. */
export type Slices<T> = Generator<undefined, T>;

export function atOnce<T>(work: Slices<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** Does the work in slices, and yields to the event loop between two of them. */
export async function inTurns<T>(work: Slices<T>): Promise<T> {
  let result: { readonly value: T } | undefined;
  const steps = {
    *[Symbol.iterator]() {
      result = { value: yield* work };
    },
  };
  await inSlices(steps, () => {});
  if (result === undefined) throw new Error("work ended without its result");
  return result.value;
}

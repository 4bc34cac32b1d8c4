import { inSlices } from "@tessera/kit/waiting/in-slices";

/** Work that says where something else may come between. */
export type Slices<T> = Generator<undefined, T>;

/** Does the work without a pause. */
export function atOnce<T>(work: Slices<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** Does the work in slices: between two of them everything else has a turn. */
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

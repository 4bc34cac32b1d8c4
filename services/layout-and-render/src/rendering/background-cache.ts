import { Fault } from "@tessera/kit/fault";
import { drawDefaultBackground } from "./default-background.ts";
import { openFlattener } from "./flatten-in-thread.ts";
import { type PreparedBackground, prepareBackground } from "./prepare-background.ts";
import type { BackgroundFile } from "./ticket.ts";

/** The page of tickets without a background of their own. */
export const builtIn = "built-in";

/** A prepared background with a name that no other has. */
export interface NamedBackground extends PreparedBackground {
  readonly name: string;
}

/** Keeps the backgrounds that were used last. */
export interface BackgroundCache {
  prepare(file: BackgroundFile | typeof builtIn): Promise<NamedBackground>;
}

/** In bytes, and of how many: what is under way has no size yet. */
const mostBytes = 64 * 1024 * 1024;

export function openBackgroundCache(): BackgroundCache {
  const kept = new Map<string, { readonly prepared: Promise<NamedBackground>; size: number }>();

  const flatten = openFlattener();

  async function prepareNew(file: BackgroundFile | typeof builtIn): Promise<PreparedBackground> {
    if (file === builtIn) return prepareBackground(await drawDefaultBackground());
    return flatten(typeof file.bytes === "function" ? await file.bytes() : file.bytes);
  }

  function forgetOldest(): void {
    let sum = 0;
    for (const [id, { size }] of [...kept].reverse()) {
      sum += size;
      if (sum > mostBytes) kept.delete(id);
    }
  }

  return {
    prepare(file) {
      const id = file === builtIn ? builtIn : `file ${file.id}`;
      const known = kept.get(id);
      if (known !== undefined) {
        // The last one used comes last.
        kept.delete(id);
        kept.set(id, known);
        return known.prepared;
      }
      const prepared = prepareNew(file).then((fresh) => ({ ...fresh, name: id }));
      const entry = { prepared, size: 0 };
      kept.set(id, entry);
      void prepared.then(
        ({ size }) => {
          entry.size = size;
          forgetOldest();
        },
        (error: unknown) => {
          // A file that cannot be read never can: it is not tried for each ticket.
          if (!(error instanceof Fault && error.code === "background_unusable")) kept.delete(id);
        },
      );
      return prepared;
    },
  };
}

import { hash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import type { Files } from "@tessera/kit/files/files";
import type { Reads } from "@tessera/kit/pg/reads";
import { keyOf } from "../backgrounds/backgrounds.ts";
import { defaultLayout } from "../domain/elements/default-layout.ts";
import type { LayoutElement } from "../domain/elements/element.ts";
import { mayPrintScans } from "../domain/elements/names-in.ts";
import { readElements } from "../domain/elements/read-elements.ts";
import type { PrintedLayout } from "../domain/selection/select-layout.ts";
import { fault } from "../faults.ts";
import type { BackgroundFile } from "../rendering/printed-ticket.ts";
import type { RenderTools } from "../rendering/render-tickets.ts";
import type { EventKey } from "../store/keys.ts";
import { findBackground } from "../store/stored-layouts.ts";

/** A layout as it would be printed. */
export interface ReadLayout {
  /** Identifies elements and background: no other layout has this name. */
  readonly name: string;
  readonly elements: readonly LayoutElement[];
  /** Whether the elements are the built-in ones. */
  readonly isBuiltIn: boolean;
  /** Whether its tickets need their scans. */
  readonly mayPrintScans: boolean;
  readonly background: BackgroundFile | null;
}

/** The dependencies of the layout reader. */
export interface LayoutTools {
  readonly reads: Reads;
  readonly files: Pick<Files, "get">;
  readonly renderer: Pick<RenderTools, "backgrounds">;
}

type ReadElements = Omit<ReadLayout, "background" | "name">;

const builtInElements: ReadElements = {
  elements: defaultLayout,
  isBuiltIn: true,
  mayPrintScans: mayPrintScans(defaultLayout),
};

const digests = new WeakMap<readonly LayoutElement[], string>();

export function nameLayout(elements: readonly LayoutElement[], background: BackgroundFile | null): string {
  const digest = digests.get(elements) ?? hash("sha256", JSON.stringify(elements));
  digests.set(elements, digest);
  return `${digest} ${background?.id ?? ""}`;
}

/** Reads each layout of an event once, however many tickets have it. */
export class LayoutReader {
  readonly #place: EventKey;
  readonly #tools: LayoutTools;
  readonly #elements = new Map<string, ReadElements>();

  constructor(place: EventKey, tools: LayoutTools) {
    this.#place = place;
    this.#tools = tools;
  }

  async read(layout: PrintedLayout | null): Promise<ReadLayout> {
    const read = this.readElements(layout);
    const background =
      layout === null || layout.background === null ? null : await this.#readBackground(layout.background);
    return { ...read, background, name: nameLayout(read.elements, background) };
  }

  /** A layout without elements prints the built-in ones (L9.3). */
  readElements(layout: PrintedLayout | null): ReadElements {
    if (layout === null) return builtInElements;
    const { elements: json } = layout;
    const known = this.#elements.get(json);
    if (known !== undefined) return known;
    const elements = readElements(json);
    const read =
      elements.length === 0 ? builtInElements : { elements, isBuiltIn: false, mayPrintScans: mayPrintScans(elements) };
    this.#elements.set(json, read);
    return read;
  }

  /** The background stays in the cache of prepared backgrounds: a file may have a thousand layouts. */
  async #readBackground(name: string): Promise<BackgroundFile> {
    const file = {
      id: name,
      bytes: async () => {
        const found = await this.#tools.files.get(keyOf(name));
        if (found === undefined) throw await this.#missing(name);
        return buffer(found.content);
      },
    };
    await this.#tools.renderer.backgrounds.prepare(file, this.#place.organizer);
    return file;
  }

  /**
   * A replaced file is deleted after its layout was updated: if the layout still names this file, the file was lost.
   */
  async #missing(name: string) {
    const { organizer } = this.#place;
    const isNamed = await this.#tools.reads.inTurn(organizer, (db) => findBackground(db, { ...this.#place, name }));
    return isNamed === null
      ? fault("background_replaced", "The background of the layout is not there any more. Try again.")
      : fault("background_lost", "The background of the layout is lost: set it again.");
  }
}

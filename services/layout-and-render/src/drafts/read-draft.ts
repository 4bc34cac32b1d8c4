import { hash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { Fault, type FieldErrors } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import type { SentBackground } from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import type { DraftLayout } from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import { unknownId } from "@tessera/values";
import { findUpload, noUpload } from "../backgrounds/backgrounds.ts";
import { selectLayout } from "../domain/selection/select-layout.ts";
import type { Ticket } from "../domain/ticket.ts";
import { fault } from "../faults.ts";
import type { BackgroundFile } from "../rendering/printed-ticket.ts";
import type { EventKey } from "../store/keys.ts";
import { readLayoutChoice } from "../store/layouts-to-print.ts";
import { LayoutReader, type LayoutTools, nameLayout, type ReadLayout } from "./layout-reader.ts";

/**
 * Reads a layout whose elements or background need not be stored. Elements sent without a layout get the built-in page.
 * `errors` are those of the rest of the request: all errors are reported at once.
 */
export async function readDraft(
  draft: DraftLayout,
  { place, ticket, errors = {} }: { readonly place: EventKey; readonly ticket: Ticket; readonly errors?: FieldErrors },
  tools: LayoutTools,
): Promise<ReadLayout> {
  const { layout: id, elements } = draft;
  const item = ticket.position.item.id;
  const named = { items: [item], layouts: id === undefined ? [] : [id] };
  const choice = await tools.reads.inTurn(place.organizer, (db) => readLayoutChoice(db, place, named));
  const upload = await readUpload(draft.background, place, tools);
  const wrong = {
    ...errors,
    ...(id === undefined || choice.layouts.has(id) ? {} : { layout: [unknownId(id, "layout")] }),
    ...("problem" in upload ? { background: [upload.problem] } : {}),
  };
  if (Object.keys(wrong).length > 0 || "problem" in upload)
    throw fault("invalid_draft", "Some fields are not valid.", { fields: wrong });
  const isNew = id === undefined && elements !== undefined;
  const stored = isNew ? null : selectLayout({ item, salesChannel: ticket.order.salesChannel, layout: id }, choice);
  const isStored = upload.file === null && !draft.withoutBackground;
  const printed = {
    id: stored?.id ?? 0,
    elements: elements ?? stored?.elements ?? "[]",
    background: isStored ? (stored?.background ?? null) : null,
  };
  const read = await new LayoutReader(place, tools).read(printed);
  const background = upload.file ?? read.background;
  return { ...read, background, name: nameLayout(read.elements, background) };
}

/** Reads an upload without storing it. */
async function readUpload(
  sent: SentBackground | undefined,
  { organizer }: EventKey,
  { files, renderer }: Pick<LayoutTools, "files" | "renderer">,
): Promise<{ readonly file: BackgroundFile | null } | { readonly problem: string }> {
  if (sent === undefined) return { file: null };
  const bytes = await readBytes(sent, files);
  if (bytes === undefined) return { problem: noUpload };
  const file = { id: `sha256 ${sent.sha256}`, bytes };
  try {
    await renderer.backgrounds.prepare(file, organizer);
    return { file };
  } catch (error) {
    if (error instanceof Fault && error.code === "background_unusable")
      return { problem: "This file cannot be read as a PDF." };
    throw error;
  }
}

async function readBytes(
  { upload, size, sha256 }: SentBackground,
  files: Pick<Files, "get">,
): Promise<Buffer | undefined> {
  const found = await findUpload(files, upload);
  if (found === undefined) return undefined;
  if (found.size !== size) {
    found.content.destroy();
    return undefined;
  }
  const bytes = await buffer(found.content);
  return hash("sha256", bytes) === sha256 ? bytes : undefined;
}

import type { Tx } from "@tessera/kit/pg/database";
import type { RecordKind, Scope } from "@tessera/records/kind";
import { refuseEach } from "@tessera/records/validate";
import { findTooLong, ticketLayoutRecord } from "@tessera/resources/ticket-layout";
import { compileSchema } from "@tessera/schema/schema";
import { type HeldFile, holdFile, isDataUrl, readDataUrl } from "@tessera/sent-files/data-url";
import { firstIdMadeHere, isObject } from "@tessera/values";
import { backgroundType, drawName, keyOf } from "../backgrounds/backgrounds.ts";
import type { Layout } from "../domain/selection/layout.ts";
import { clearDefault, deleteLayouts, findLayouts, putLayouts } from "../store/stored-layouts.ts";
import type { Known, Mentioned } from "./known.ts";
import { convertNegativeTexts } from "./negative-texts.ts";

interface ImportedLayout extends Omit<Layout, "background"> {
  /** The name of the stored copy, if the layout does not have this background yet. */
  readonly background: { readonly name: string; readonly file: HeldFile } | null;
  /** Why the background is rejected. */
  readonly problem?: string;
}

const check = compileSchema(ticketLayoutRecord, { namesParts: true });

const madeHere = `Layouts with ids from ${firstIdMadeHere} on were made here; no record may bring or replace one.`;

/** The sender of records fetches files: this process connects to no address that a record names (no SSRF). */
const noFile = "A background comes as `data:application/pdf;base64,…`, not as an address.";

/** A layout, with its id. A record that is the default replaces the former default. */
export const ticketLayout: RecordKind<ImportedLayout, Mentioned, Known> = {
  name: "ticket_layout",
  schema: ticketLayoutRecord,
  read(data) {
    const converted = isObject(data) ? { ...data, layout: convertNegativeTexts(data["layout"]) } : data;
    // Serialized before the check, which converts values: elements are stored as they were sent.
    const elements = JSON.stringify(isObject(converted) ? (converted["layout"] ?? []) : []);
    const checked = check(converted);
    const tooLong = findTooLong(elements);
    if (!checked.ok || tooLong !== undefined) {
      const errors = checked.ok ? {} : checked.errors;
      return { ok: false, errors: { ...errors, ...(tooLong === undefined ? {} : { layout: [tooLong] }) } };
    }
    const { id, name, default: isDefault, background } = checked.value;
    if (id >= firstIdMadeHere) return { ok: false, errors: { id: [madeHere] } };
    const layout = { id, name, isDefault, elements };
    if (background === null || background === "") return { ok: true, value: { ...layout, background: null } };
    const reading = isDataUrl(background) ? readDataUrl(background) : { ok: false as const, problem: noFile };
    if (!reading.ok) return { ok: false, errors: { background: [reading.problem] } };
    const { file } = reading;
    if (file.contentType !== backgroundType) return { ok: false, errors: { background: ["A background is a PDF."] } };
    return { ok: true, value: { ...layout, background: { name: drawName(), file } } };
  },
  keyOf: ({ id }) => String(id),
  async examineFiles(layout, examine) {
    if (layout.background === null) return layout;
    const { name, file } = layout.background;
    const examined = await examine({ type: backgroundType, bytes: file.content });
    if (!examined.ok) return { ...layout, background: null, problem: examined.objection };
    return { ...layout, background: { name, file: holdFile(backgroundType, examined.rewritten ?? file.content) } };
  },
  *filesOf({ background }) {
    if (background === null) return;
    const { contentType, content } = background.file;
    yield { key: keyOf(background.name), contentType, content };
  },
  async refuse(_tx, { values }) {
    return refuseEach(values, ({ problem }, addError) => {
      if (problem !== undefined) addError("background", problem);
    });
  },
  bring: () => ({}),
  async store(tx, { scope, values }) {
    const held = await findHeld(tx, scope, values);
    const chosen = values.findLast(({ isDefault }) => isDefault)?.id;
    if (chosen !== undefined && held.get(chosen)?.isDefault !== true) await clearDefault(tx, scope);
    await putLayouts(
      tx,
      scope,
      values.map(({ background, problem: _none, ...layout }) => {
        const before = held.get(layout.id)?.background ?? null;
        const isSame = before !== null && background !== null && before.sha256 === background.file.sha256;
        const stored = background && {
          name: background.name,
          size: background.file.size,
          sha256: background.file.sha256,
        };
        return { ...layout, isDefault: layout.id === chosen, background: isSame ? before : stored };
      }),
    );
  },
  async remove(tx, { scope, keys }) {
    await deleteLayouts(tx, scope, keys.map(Number));
  },
};

async function findHeld(
  tx: Tx,
  scope: Scope,
  layouts: readonly { readonly id: number }[],
): Promise<Map<number, Layout>> {
  const found = await findLayouts(
    tx,
    scope,
    layouts.map(({ id }) => id),
  );
  return new Map(found.map((layout) => [layout.id, layout]));
}

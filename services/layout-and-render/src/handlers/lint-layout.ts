import { buffer } from "node:stream/consumers";
import type { Call } from "@tessera/kit/rpc";
import { inSlices } from "@tessera/kit/waiting/in-slices";
import type { LintLayoutRequest, LintLayoutResponse } from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import { pointsPerMm } from "../domain/drawing/page-units.ts";
import type { LayoutElement } from "../domain/elements/element.ts";
import { resolveElements } from "../domain/elements/resolve-elements.ts";
import { LongestValues } from "../domain/lint/choose-longest.ts";
import { findBadCodes } from "../domain/lint/find-bad-codes.ts";
import { findInvisible } from "../domain/lint/find-invisible.ts";
import { findMisplaced } from "../domain/lint/find-misplaced.ts";
import { findUnknownNames } from "../domain/lint/find-unknown-names.ts";
import type { Finding } from "../domain/lint/finding.ts";
import { KnownNames } from "../domain/lint/known-names.ts";
import { makeSampleTicket } from "../domain/sample-ticket.ts";
import type { Ticket } from "../domain/ticket.ts";
import type { ReadLayout } from "../drafts/layout-reader.ts";
import { readDraft } from "../drafts/read-draft.ts";
import { findScans } from "../printing/first-entries.ts";
import { lookAtGrounds } from "../printing/look-at-grounds.ts";
import { describeFile, type PrintTools } from "../printing/printing.ts";
import { readNewestTickets } from "../printing/ticket-data.ts";
import { builtIn } from "../rendering/background-cache.ts";
import { encodeCodes } from "../rendering/encode-codes.ts";
import type { PictureDrawer } from "../rendering/picture-drawer.ts";
import { renderTickets } from "../rendering/render-tickets.ts";

const mostTickets = 1000;

/** The limit for the elements of all tickets: with hundreds of elements fewer tickets are checked. */
const mostElements = 50_000;

/** Finds problems of a layout that need not be stored. */
export async function lintLayout(
  { organizer, event, draft, mayReadTickets }: LintLayoutRequest,
  tools: PrintTools & { readonly pictures: PictureDrawer },
  { signal }: Call,
): Promise<LintLayoutResponse> {
  if (draft === undefined) throw new Error("no layout was to be checked");
  const place = { organizer, event };
  const most = mayReadTickets ? mostTickets : 1;
  const { data, tickets: sold } = await readNewestTickets(tools.ticketData, { ...place, signal }, most);
  const sample = makeSampleTicket(data, tools.clock.now());
  const read = await readDraft(draft, { place, ticket: sample }, tools);
  // Findings name only elements that a client can change.
  const layout = read.isBuiltIn ? { ...read, elements: [] } : read;
  const { elements, background } = layout;
  const seen = mayReadTickets ? sold.slice(0, Math.max(1, Math.floor(mostElements / elements.length))) : [];
  const scans =
    seen.length > 0 && layout.mayPrintScans
      ? await findScans(
          tools.firstEntries,
          { ...place, signal },
          seen.map(({ position }) => position.id),
        )
      : null;
  const looked = seen.length === 0 ? [sample] : seen.map((ticket) => ({ ...ticket, scans }));
  const known = new KnownNames(sample);
  known.add(sample);
  await inSlices(seen, (ticket) => known.add(ticket));
  const longest = await findLongest(looked, layout, tools);
  const { pages } = await tools.renderer.backgrounds.prepare(background ?? builtIn, organizer);
  const sizes = pages.map(({ width, height }) => ({ width: width / pointsPerMm, height: height / pointsPerMm }));
  const file = describeFile(sample, place, tools, { signal });
  const misplaced = findMisplaced(elements, sizes);
  const noSize = new Set(misplaced.flatMap(({ element, code }) => (code === "no_size" ? [element] : [])));
  const long = await findLongTexts(longest, { file, layout, renderer: tools.renderer });
  const encode = await encodeCodes(codesOf(elements, longest));
  const grounds = await lookAtGrounds({ file, layout, organizer, signal }, tools);
  const findings = [
    ...misplaced,
    ...findUnknownNames(elements, known),
    ...findInvisible(elements, { isBare: background === null, grounds }),
    ...findBadCodes(elements, { valuesOf: (index) => longest.codesOf(index), encode }),
    // Elements without a size are reported already.
    ...long.filter(({ element }) => !noSize.has(element)),
  ];
  return {
    findings: findings.sort((one, other) => one.element - other.element),
    tickets: seen.length,
  };
}

async function findLongest(
  tickets: readonly Ticket[],
  { elements }: ReadLayout,
  { clock, formats }: PrintTools,
): Promise<LongestValues> {
  const longest = new LongestValues();
  const now = clock.now();
  await inSlices(tickets, (ticket) => longest.add(resolveElements(elements, ticket, { now, formats }).elements));
  return longest;
}

/** The codes that are checked. */
function* codesOf(elements: readonly LayoutElement[], longest: LongestValues) {
  for (const [index, element] of elements.entries()) {
    if (element.type !== "barcodearea") continue;
    for (const value of longest.codesOf(index)) yield { symbology: element.symbology, value };
  }
}

/** Finds texts that do not fit their boxes: the browser measures the longest ones. */
async function findLongTexts(
  longest: LongestValues,
  {
    file,
    layout: { name, elements, background },
    renderer,
  }: {
    readonly file: ReturnType<typeof describeFile>;
    readonly layout: ReadLayout;
    readonly renderer: PrintTools["renderer"];
  },
): Promise<Finding[]> {
  if (!elements.some(({ type }) => type === "textcontainer")) return [];
  const long = new Set<number>();
  const tickets = longest.tickets().map((each) => ({
    elements: each.filter(({ type }) => type === "textcontainer" || type === "textarea"),
    background,
    layout: name,
  }));
  // Only texts are measured; maps their indexes back to those of the elements.
  const places = [...elements.keys()].filter((index) => /^text/.test(elements[index]?.type ?? ""));
  const pages = renderTickets(
    {
      ...file,
      tickets,
      count: tickets.length,
      readImages: async (images) => images.map(() => undefined),
      isSmall: true,
      checksFit: true,
      onWarning: ({ element, code }) => {
        const place = places[element];
        if (code === "text_too_long" && place !== undefined) long.add(place);
      },
    },
    renderer,
  );
  await buffer(pages);
  return [...long].map((element) => ({
    element,
    code: "text_too_long",
    message: "The longest text does not fit into its box. Make the box larger or the letters smaller.",
  }));
}
